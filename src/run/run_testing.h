// For tests that compile a program (testdata/) and run it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/accounting.h"
#include "run/run.h"

namespace plumb {

namespace fs = std::filesystem;

// A directory that goes with the test program.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "plumb-run-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path_); }
  fs::path file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};
inline const Scratch& scratch() {
  static const Scratch scratch;
  return scratch;
}

struct Build {
  const char* name;
  const char* c;
  const char* cxx;
  const char* flags;
};
inline constexpr Build kGcc{"gcc-O0", "gcc", "g++", "-O0 -g"};
inline constexpr Build kClang{"clang-O2", "clang-19", "clang++-19", "-O2 -gdwarf-4"};

// The path of the compiled program; each is compiled once.
inline std::string compiled(const std::string& source, const Build& build,
                            const std::string& more = "") {
  static std::map<std::string, std::string> known;
  const std::string key = fmt::format("{} {} {}", source, build.name, more);
  const auto [place, is_new] = known.try_emplace(key);
  if (is_new) {
    place->second = scratch().file(fmt::format("program{}", known.size())).string();
    const bool cxx = source.ends_with(".cc");
    const std::string command =
        fmt::format("{} {} -w -pthread {} {}/{} -o {}", cxx ? build.cxx : build.c, build.flags,
                    more, PLUMB_TEST_DATA, source, place->second);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  return place->second;
}

inline const Note* note(const Report& report, std::string_view code) {
  const auto found = std::ranges::find(report.notes, code, &Note::code);
  return found == report.notes.end() ? nullptr : &*found;
}

inline const Leak* lost_leak(const Report& report, std::string_view function) {
  for (const Leak& leak : report.leaks) {
    if (leak.kind != Kind::lost) continue;
    for (const Frame& frame : leak.allocation.stack) {
      if (frame.function == function) return &leak;
    }
  }
  return nullptr;
}

struct Expected {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
};
inline void expect_lost(const Report& report, Expected expected) {
  EXPECT_EQ(report.totals.lost.blocks, expected.blocks);
  EXPECT_EQ(report.totals.lost.bytes, expected.bytes);
  EXPECT_EQ(note(report, "no-scan"), nullptr);
  EXPECT_EQ(note(report, "counters"), nullptr);
}

inline RunOptions options_for(std::vector<std::string> command) {
  RunOptions options;
  options.command = std::move(command);
  return options;
}

inline RunOutcome run_with(const RunOptions& options) {
  Result<RunOutcome> outcome = run_program(options);
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message();
    return {};
  }
  EXPECT_TRUE(check_totals(outcome->report));
  return std::move(*outcome);
}

}  // namespace plumb
