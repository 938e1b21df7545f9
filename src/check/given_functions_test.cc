// Functions that are given a function, by name: what it does counts.

#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(GivenFunctions, AMakerIsCalledThroughAParameter) {
  expect_by_name(kHeader + std::string(R"(
static char *make(void) { return malloc(9); }
static char *none(void) { return 0; }
static char *call(char *(*maker)(void)) { return maker(); }
static char *twice(char *(*maker)(void)) { return call(maker); }
void direct_bad(void) { char *p = call(make); if (p) *p = 1; }
void direct_ok(void) { char *p = call(make); free(p); }
void none_ok(void) { char *p = call(none); if (p) *p = 1; }
void twice_bad(void) { char *p = twice(make); if (p) *p = 1; }
void twice_ok(void) { char *p = twice(make); free(p); }
void unknown_ok(char *(*maker)(void)) { char *p = call(maker); if (p) *p = 1; }
)"));
}

TEST(GivenFunctions, WhatAWalkDoesToElementsIsWhatItIsGiven) {
  expect_by_name(kHeader + std::string(R"(
static void with(char *p, void (*f)(void *)) { if (f) f(p); }
static void look(void *p) { *(char *)p = 1; }
static void release(void *p) { free(p); }
void look_bad(void) { char *p = malloc(9); with(p, look); }
void look_ok(void) { char *p = malloc(9); with(p, look); free(p); }
void release_ok(void) { char *p = malloc(9); with(p, release); }
void library_ok(void) { char *p = malloc(9); with(p, free); }
)"));
}

// A function that calls itself with what it was given; one whose parameter is something
// else by the time it is called.
TEST(GivenFunctions, RoundAboutAndChanged) {
  expect_by_name(kHeader + std::string(R"(
struct node { struct node *next; char *text; };
static void each(struct node *n, void (*f)(char *)) {
  if (!n) return;
  f(n->text);
  each(n->next, f);
}
static void look(char *p) { *p = 1; }
static void release(char *p) { free(p); }
static struct node *make(void) {
  struct node *n = calloc(1, sizeof *n);
  n->text = malloc(9);
  return n;
}
void each_ok(void) { struct node *n = make(); each(n, release); free(n); }
void each_bad(void) { struct node *n = make(); each(n, look); free(n); }
static void changed(char *p, void (*f)(char *)) { f = release; f(p); }
void changed_ok(void) { changed(malloc(9), look); }
)"));
}

// In another file, and a function that only its own file can name.
TEST(GivenFunctions, AcrossFiles) {
  const std::string folder = fmt::format("{}/given.{}", testing::TempDir(), getpid());
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(write_file(folder + "/walk.c", R"(
void with(char *p, void (*f)(char *)) { f(p); }
static void look(char *p) { p[1] = 0; }
void both(char *p) { with(p, look); }
)"));
  EXPECT_TRUE(write_file(folder + "/use.c", kHeader + std::string(R"(
void with(char *p, void (*f)(char *));
void both(char *p);
static void look(char *p) { free(p); }
void freed(void) { with(malloc(9), look); }
void lost(void) { both(malloc(9)); }
)")));
  for (const unsigned threads : {1u, 4u}) {
    CheckOptions options;
    for (const std::string name : {"walk.c", "use.c"}) {
      options.jobs.push_back({folder, name, {name}});
    }
    options.models = shipped_models("c.models");
    options.cache = folder + "/cache";
    options.threads = threads;
    const Result<CheckOutcome> outcome = check_program(options);
    ASSERT_TRUE(outcome) << outcome.error().message();
    EXPECT_EQ(finders(outcome->report), Names{"lost"});
    EXPECT_EQ(outcome->report.totals.functions, 6u);
  }
}

// A finding in a copy is that of the function.
TEST(GivenFunctions, ACopyIsNoFurtherFinding) {
  const Report report = check_source(kHeader + std::string(R"(
static void look(char *p) { *p = 1; }
static void poke(char *p) { *p = 2; }
void with(int n, void (*f)(char *)) {
  char *p = malloc(9);
  f(p);
  char *q = malloc(n);
  if (n > 9) return;
  free(q);
}
void first(void) { with(1, look); }
void second(int n) { with(n, poke); }
)"));
  std::set<std::string> at;
  for (const Leak& leak : report.leaks) {
    EXPECT_EQ(leak.allocation.stack.front().function, "with");
    EXPECT_EQ(leak.allocation.stack.front().linkage, "");
    at.insert(fmt::format("{}", *leak.allocation.stack.front().line));
  }
  EXPECT_EQ(at.size(), report.leaks.size());
}

}  // namespace
}  // namespace plumb::check
