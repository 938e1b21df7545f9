// What a run keeps must change nothing but the time of the next one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "check/cache/result_store.h"
#include "check/check.h"
#include "check/model/unit_file.h"

namespace plumb::check {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMake = R"(
#include <stdlib.h>
struct box { char *name; int size; };
int make(struct box **out, int n) {
  if (n < 0) return -1;
  struct box *b = malloc(sizeof *b);
  if (!b) return -1;
  b->name = malloc(n);
  b->size = n;
  *out = b;
  return 0;
}
void drop(struct box *b) { free(b->name); free(b); }
)";

constexpr const char* kMakeKeepsNoName = R"(
#include <stdlib.h>
struct box { char *name; int size; };
int make(struct box **out, int n) {
  if (n < 0) return -1;
  struct box *b = malloc(sizeof *b);
  if (!b) return -1;
  b->name = 0;
  b->size = n;
  *out = b;
  return 0;
}
void drop(struct box *b) { free(b); }
)";

constexpr const char* kUse = R"(
#include <stdlib.h>
struct box { char *name; int size; };
int make(struct box **out, int n);
void drop(struct box *b);
static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static void (*const drops[])(struct box *) = {drop, 0};
void ok(int n) {
  struct box *b;
  if (make(&b, n) != 0) return;
  drops[0](b);
}
void bad(int n) {
  struct box *b;
  if (make(&b, n) != 0) return;
  if (even(n)) return;
  drop(b);
}
void worse(int n) {
  struct box *b;
  if (make(&b, n) != 0) return;
  free(b);
}
)";

class KeptTest : public ::testing::Test {
 protected:
  KeptTest() {
    write("make.c", kMake);
    write("use.c", kUse);
  }
  ~KeptTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file(folder_ + "/" + name, text));
  }

  CheckOutcome run(bool cache, unsigned threads = 1) {
    CheckOptions options;
    for (const std::string name : {"make.c", "use.c"})
      options.jobs.push_back({folder_, name, {name}});
    if (cache) options.cache = folder_ + "/cache";
    options.threads = threads;
    options.models = {models(), "models/c.models"};
    Result<CheckOutcome> outcome = check_program(options);
    EXPECT_TRUE(outcome) << outcome.error().message();
    return outcome ? std::move(*outcome) : CheckOutcome{};
  }

  static std::string models() {
    const fs::path here(PLUMB_TEST_DATA);
    return read_file((here / "../../../models/c.models").lexically_normal().string()).value_or("");
  }

  // All that a user sees of the findings.
  static std::string text(const CheckOutcome& outcome) {
    std::string out;
    for (const Leak& leak : outcome.report.leaks) {
      out += leak.id + ' ' + std::to_string(leak.confidence);
      for (const Frame& frame : leak.allocation.stack) {
        out += ' ' + frame.function + ':' + std::to_string(frame.line.value_or(0));
      }
      out += " ->";
      for (const Frame& frame : leak.loss->stack) {
        out += ' ' + frame.function + ':' + std::to_string(frame.line.value_or(0));
      }
      for (const Step& step : leak.path) out += "\n  " + step.event + ' ' + step.text;
      out += '\n';
    }
    for (const Stage& stage : outcome.report.totals.stages) {
      out += stage.name + ' ' + std::to_string(stage.in) + ' ' + std::to_string(stage.out) + '\n';
    }
    return out;
  }

  std::vector<fs::path> results() {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ + "/cache")) {
      if (entry.path().extension() == ".results") out.push_back(entry.path());
    }
    return out;
  }

  static std::string make_folder() {
    std::string pattern = ::testing::TempDir() + "plumb_kept_XXXXXX";
    const char* made = mkdtemp(pattern.data());
    EXPECT_NE(made, nullptr);
    return pattern;
  }

  const std::string folder_ = make_folder();
};

TEST_F(KeptTest, AWarmRunSaysTheSame) {
  const std::string truth = text(run(false));
  EXPECT_NE(truth.find("bad"), truth.npos) << truth;
  const CheckOutcome cold = run(true);
  EXPECT_EQ(text(cold), truth);
  EXPECT_EQ(cold.components_from_cache, 0u);
  const CheckOutcome warm = run(true, 8);
  EXPECT_EQ(text(warm), truth);
  EXPECT_EQ(warm.components_from_cache, 6u);  // even and odd are one
}

TEST_F(KeptTest, LinesMayMove) {
  run(true);
  write("use.c", "\n\n/* three lines */\n" + std::string(kUse));
  const std::string truth = text(run(false));
  const CheckOutcome warm = run(true);
  EXPECT_EQ(text(warm), truth);
  EXPECT_EQ(warm.components_from_cache, 6u);
}

TEST_F(KeptTest, AChangeGoesAsFarAsItsEffect) {
  run(true);
  write("make.c", kMakeKeepsNoName);
  const std::string truth = text(run(false));
  const CheckOutcome warm = run(true);
  EXPECT_EQ(text(warm), truth);
  EXPECT_EQ(warm.components_from_cache, 1u);  // even and odd
  // Other words for the same: its callers do not notice.
  std::string other = kMakeKeepsNoName;
  other.replace(other.find("n < 0"), 5, "0 > n");
  write("make.c", other);
  const std::string same = text(run(false));
  const CheckOutcome again = run(true);
  EXPECT_EQ(text(again), same);
  EXPECT_GE(again.components_from_cache, 4u);
}

TEST_F(KeptTest, AGlobalThatIsNowWrittenIsNoticed) {
  run(true);
  std::string other = kUse;
  other.replace(other.find("*const drops"), 12, "*drops");
  other += "void set(void (*f)(struct box *)) { drops[0] = f; }\n";
  write("use.c", other);
  const std::string truth = text(run(false));
  EXPECT_EQ(text(run(true)), truth);
  EXPECT_EQ(text(run(true)), truth);
}

TEST_F(KeptTest, DamagedFilesAreIgnored) {
  const std::string truth = text(run(true));
  const std::vector<fs::path> files = results();
  ASSERT_EQ(files.size(), 2u);
  std::vector<std::string> whole;
  for (const fs::path& file : files) whole.push_back(read_file(file.string()).value_or(""));
  // Cut off and flipped: the sum says so.
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t part = 0; part < 8; ++part) {
      const std::string cut = whole[f].substr(0, whole[f].size() * part / 8);
      EXPECT_TRUE(ResultStore::from_bytes(cut).empty());
      std::string flipped = whole[f];
      flipped[flipped.size() * part / 8] ^= 4;
      EXPECT_TRUE(ResultStore::from_bytes(flipped).empty());
    }
    ASSERT_TRUE(write_file(files[f].string(), whole[f].substr(0, whole[f].size() / 2)));
  }
  EXPECT_EQ(text(run(true)), truth);
}

TEST_F(KeptTest, WhatIsKeptMayBeAnything) {
  run(true);
  const std::vector<fs::path> files = results();
  std::vector<ResultStore::Entries> whole;
  for (const fs::path& file : files) {
    whole.push_back(ResultStore::from_bytes(read_file(file.string()).value_or("")));
    ASSERT_FALSE(whole.back().empty());
  }
  // The sum is right, what it is the sum of is not. Nothing may crash; what is
  // found then is another matter.
  std::uint64_t random = 88172645463325252ull;
  const auto next = [&] {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  };
  for (int round = 0; round < 60; ++round) {
    for (std::size_t f = 0; f < files.size(); ++f) {
      ResultStore::Entries broken = whole[f];
      for (auto& [name, bytes] : broken) {
        for (int change = 0; change < 3 && !bytes.empty(); ++change) {
          bytes[next() % bytes.size()] ^= static_cast<char>(1 << next() % 8);
        }
        if (next() % 8 == 0) bytes.resize(next() % bytes.size());
      }
      ASSERT_TRUE(write_file(files[f].string(), ResultStore::to_bytes(broken)));
    }
    run(true);
  }
}

// Units come from files that others made: what is_sound() lets through must not
// crash the analysis, whatever it says then.
TEST_F(KeptTest, AUnitMayBeAnything) {
  CompileJob job{folder_, "use.c", {"use.c"}};
  const Result<Unit> good = compile_unit(job);
  ASSERT_TRUE(good);
  std::mt19937_64 dice(7);
  const auto any = [&](auto& item) {
    unsigned char bytes[sizeof item];
    std::memcpy(bytes, &item, sizeof item);
    // Small numbers are the dangerous ones: they often mean something.
    bytes[dice() % sizeof item] = static_cast<unsigned char>(dice() % 3 ? dice() % 8 : dice());
    std::memcpy(&item, bytes, sizeof item);
  };
  unsigned accepted = 0;
  for (int round = 0; round < 200; ++round) {
    Unit unit = *good;
    Function& f = unit.functions[dice() % unit.functions.size()];
    switch (dice() % 4) {
      case 0:
        if (!f.pool.empty()) any(f.pool[dice() % f.pool.size()]);
        break;
      case 1:
        any(f.blocks[dice() % f.blocks.size()]);
        break;
      default:
        any(f.operations[dice() % f.operations.size()]);
        break;
    }
    const std::string file = folder_ + "/any.unit";
    ASSERT_TRUE(write_unit(unit, file));
    if (!read_unit(file)) continue;
    ++accepted;
    CheckOptions options;
    options.units = {file};
    options.models = {models(), "models/c.models"};
    EXPECT_TRUE(check_program(options));
  }
  EXPECT_GT(accepted, 20u);
}

}  // namespace
}  // namespace plumb::check
