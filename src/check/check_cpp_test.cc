#include "check/check.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/file.h"

namespace plumb::check {
namespace {

// The functions in which something is lost.
std::set<std::string> losers(const std::string& source, std::string_view extension = "cc",
                             bool globals = false) {
  const std::string path =
      fmt::format("{}/plumb_check_cpp_test.{}.{}", testing::TempDir(), getpid(), extension);
  EXPECT_TRUE(write_file(path, source));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.globals = globals;
  const std::filesystem::path here(PLUMB_TEST_DATA);
  const Result<std::string> models =
      read_file((here / "../../../models/c.models").lexically_normal().string());
  EXPECT_TRUE(models);
  options.models = {models.value_or(""), "models/c.models"};
  Result<CheckOutcome> outcome = check_program(options);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  std::set<std::string> out;
  if (!outcome) return out;
  for (const Leak& leak : outcome->report.leaks) {
    const std::vector<Frame>& stack = leak.loss ? leak.loss->stack : leak.allocation.stack;
    out.insert(stack.front().function.substr(0, stack.front().function.find('(')));
  }
  return out;
}

using Names = std::set<std::string>;

TEST(CheckCpp, BitFieldsSayWhetherTheDestructorFrees) {
  const std::string value = R"(
#include <stdlib.h>
#include <string.h>
#include <utility>
class Value {
 public:
  Value() { bits_.type = 0; bits_.owned = 0; value_.number = 0; }
  explicit Value(const char* text) {
    bits_.type = 4;
    bits_.owned = 1;
    value_.text = strdup(text);
  }
  Value(Value&& other) : Value() { swap(other); }
  Value& operator=(Value&& other) { other.swap(*this); return *this; }
  ~Value() {
    switch (bits_.type) {
      case 0: case 1: case 2: break;
      case 4: if (bits_.owned) free(value_.text); break;
      default: break;
    }
  }
  void swap(Value& other) {
    std::swap(bits_, other.bits_);
    std::swap(value_, other.value_);
  }
  void forget() { bits_.type = 1; }
 private:
  struct { unsigned type : 8; unsigned owned : 1; } bits_;
  union { char* text; long number; } value_;
};
)";
  EXPECT_EQ(losers(value + R"(
void assigned_ok(Value* to) { *to = Value("x"); }
void moved_ok(int n) { Value v("a"); Value w(std::move(v)); if (n) throw n; }
void forgotten_bad() { Value v("a"); v.forget(); }
)"),
            Names{"forgotten_bad"});
}

TEST(CheckCpp, ASetKeepsWhatItIsGivenUnlessTheResultIsLookedAt) {
  EXPECT_EQ(losers(R"(
#include <set>
struct File { int refs; int number; };
struct ByNumber {
  bool operator()(File* a, File* b) const { return a->number < b->number; }
};
using Files = std::set<File*, ByNumber>;
void ignored_ok(Files* files) { files->insert(new File{1, 2}); }
bool looked_at_ok(Files* files) {
  File* file = new File{1, 2};
  if (files->insert(file).second) return true;
  delete file;
  return false;
}
bool looked_at_bad(Files* files) {
  File* file = new File{1, 2};
  return files->insert(file).second;
}
)"),
            Names{"looked_at_bad"});
}

TEST(CheckCpp, TreesOfTheLibraryFreeTheirNodes) {
  EXPECT_EQ(losers(R"(
#include <map>
#include <set>
#include <string>
void copy_ok(const std::set<unsigned long>& from) {
  std::set<unsigned long> copy = from;
  copy.erase(3);
}
struct Node { std::map<std::string, Node> children; char* name = nullptr; };
void nested_ok(Node* to, const Node& from) { to->children["a"] = from; }
void raw_bad() { std::set<unsigned long>* made = new std::set<unsigned long>; made->insert(3); }
)"),
            Names{"raw_bad"});
}

TEST(CheckCpp, TheMangledNameSaysWhatTheLibraryOnlyReads) {
  EXPECT_EQ(losers(R"(
#include <string>
#include <string.h>
#include <stdlib.h>
void append_bad(std::string* to) { char* text = strdup("abc"); to->append(text, 3); }
void append_ok(std::string* to) { char* text = strdup("abc"); to->append(text, 3); free(text); }
)"),
            Names{"append_bad"});
}

TEST(CheckCpp, AWalkFreesTheWholeChain) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
struct node { struct node *left, *right; };
static void erase(struct node *x) {
  while (x) { erase(x->right); struct node *y = x->left; free(x); x = y; }
}
static void erase_one(struct node *x) { free(x); }
struct node *pair(void) {
  struct node *a = calloc(1, sizeof *a);
  a->left = calloc(1, sizeof *a);
  return a;
}
void walk_ok(void) { erase(pair()); }
void one_bad(void) { erase_one(pair()); }
)",
                   "c"),
            Names{"one_bad"});
}

TEST(CheckCpp, ABlockComesUpThroughRecursion) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
static char *make(int n) { return n > 0 ? make(n - 1) : malloc(10); }
static char *drop(int n) {
  char *mine = malloc(5);
  if (n > 0) return drop(n - 1);
  free(mine);
  return malloc(10);
}
void made_ok(void) { free(make(10)); }
void made_bad(void) { make(10); }
void dropped_ok(void) { free(drop(10)); }
)",
                   "c"),
            (Names{"made_bad", "drop"}));
}

TEST(CheckCpp, AReallocationThatFailsLeavesTheOldBlock) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
void tested_bad(void) {
  int *p = malloc(4), *q = realloc(p, 400);
  if (q != NULL) free(q);
}
void tested_ok(void) {
  int *p = malloc(4), *q = realloc(p, 400);
  if (q != NULL) free(q); else free(p);
}
void untested_ok(void) {
  int *p = malloc(4), *q = realloc(p, 400);
  free(q);
}
)",
                   "c"),
            Names{"tested_bad"});
}

TEST(CheckCpp, WhatACalleeLeftInAGlobalIsFreedOutOfIt) {
  const std::string set = R"(
#include <stdlib.h>
static char *kept;
static int set(int n) {
  switch (n) {
    case 1: kept = calloc(1, 1); return 1;
    case 2: kept = calloc(2, 1); return 2;
    default: return -1;
  }
}
)";
  EXPECT_EQ(losers(set + "void use(int n) { if (set(n) >= 0) free(kept); }\n", "c", true), Names{});
  EXPECT_EQ(losers(set + "void use(int n) { if (set(n) == 0) free(kept); }\n", "c", true),
            Names{"set"});
}

}  // namespace
}  // namespace plumb::check
