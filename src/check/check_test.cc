#include "check/check.h"

#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(Check, FindsTheEarlyReturnAndNotItsTwin) {
  const Report report = check_source(R"(
#include <stdlib.h>
void bad(int n) {
  char *p = malloc(16);
  if (n > 9) return;
  free(p);
}
void ok(int n) {
  char *p = malloc(16);
  if (n > 9) { free(p); return; }
  free(p);
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  EXPECT_EQ(report.leaks[0].allocation.stack.front().line, 4u);
  EXPECT_EQ(report.leaks[0].loss->stack.front().function, "bad");
  EXPECT_EQ(report.leaks[0].loss->holder->name, "p");
}

TEST(Check, FollowsWrappersAndReturnCodes) {
  const Report report = check_source(R"(
#include <stdlib.h>
static int make(char **out, int n) {
  if (n < 0) return -1;
  *out = malloc(n);
  return 0;
}
static void drop(char *p) { free(p); }
void ok(int n) {
  char *p;
  if (make(&p, n) != 0) return;
  drop(p);
}
void bad(int n) {
  char *p;
  if (make(&p, n) != 0) return;
  p[0] = 1;
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  EXPECT_EQ(report.leaks[0].allocation.stack.size(), 2u);
  EXPECT_EQ(report.leaks[0].loss->stack.front().function, "bad");
}

TEST(Check, PathsThatContradictThemselvesAreNoFindings) {
  const Report report = check_source(R"(
#include <stdlib.h>
int work(void);
int correlated(int a, int b, int c) {
  char *p = 0;
  if (a < b) p = malloc(10);
  if (work() && b < c) {
    if (a >= c) return 1;
  } else {
    if (a < b) free(p);
    return 0;
  }
  if (b > a) free(p);
  return 0;
}
)");
  EXPECT_TRUE(report.leaks.empty());
  const auto& stages = report.totals.stages;
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages.front().name, "summaries");
  EXPECT_GT(stages.front().out, stages.back().out);
}

TEST(Check, ShowsASummary) {
  const std::string path = testing::TempDir() + "/plumb_check_summary.c";
  ASSERT_TRUE(write_file(path, kHeader + std::string(R"(
int make(char **out, int n) {
  if (n < 0) return -1;
  *out = malloc(n);
  return 0;
}
)")));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = shipped_models("c.models");
  options.show_summary = "make";
  const Result<CheckOutcome> outcome = check_program(options);
  ASSERT_TRUE(outcome);
  ASSERT_EQ(outcome->summaries.size(), 1u);
  const std::string& text = outcome->summaries[0].summary.text;
  EXPECT_NE(text.find("lives; *out = the block"), std::string::npos) << text;
  EXPECT_NE(text.find("returns 0"), std::string::npos) << text;
}

// What held the last reference, as the source would write it.
TEST(Check, NamesTheHolder) {
  const std::string header = R"(
struct item { char *name; struct item *next; };
struct list { int count; struct item *head; };
)";
  const auto holder_of = [&](const std::string& function) {
    const Report report = check_source(kHeader + header + function);
    EXPECT_EQ(report.leaks.size(), 1u) << function;
    if (report.leaks.empty() || !report.leaks[0].loss || !report.leaks[0].loss->holder) {
      return std::string();
    }
    return report.leaks[0].loss->holder->name;
  };
  EXPECT_EQ(holder_of("void f(struct list *l) { l->head = malloc(16); l->head = 0; }"), "l->head");
  EXPECT_EQ(holder_of("void f(void) { struct list l; l.head = malloc(16); l.count = 1; }"),
            "l.head");
  EXPECT_EQ(holder_of("void f(void) { struct item *i = malloc(16); if (!i) return;"
                      " i->name = malloc(3); free(i); }"),
            "i->name");
  EXPECT_EQ(holder_of("void f(char **table) { table[2] = malloc(8); table[2] = 0; }"), "table[2]");
  EXPECT_EQ(holder_of("void f(char **out) { *out = malloc(8); *out = 0; }"), "*out");
}

// The free belongs between the last use on the path and the loss.
TEST(Check, KnowsTheLastUse) {
  const Report report = check_source(R"(
#include <stdlib.h>
int f(int n) {
  char *p = malloc(16);
  if (!p) return 0;
  p[0] = 'x';
  p[1] = 'y';
  if (n > 3)
    return 1;
  free(p);
  return 0;
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  const Leak& leak = report.leaks[0];
  ASSERT_TRUE(leak.last_use);
  EXPECT_EQ(leak.last_use->what, UseKind::access);
  EXPECT_EQ(leak.last_use->stack.front().line, 7u);
  ASSERT_EQ(leak.window.size(), 2u);
  EXPECT_EQ(leak.window[0].line, 7u);
  EXPECT_EQ(leak.window[1].line, 9u);
  ASSERT_TRUE(leak.fix);
  EXPECT_EQ(leak.fix->text, "`free(p)` before it goes out of scope here");
}

TEST(Check, SuggestsTheFormOfDeleteThatBelongs) {
  const Report report = check_source(R"(
void one() { int *p = new int; *p = 1; }
void many(int n) { int *p = new int[n]; *p = 1; }
)",
                                     "cc");
  ASSERT_EQ(report.leaks.size(), 2u);
  for (const Leak& leak : report.leaks) {
    const bool many = leak.loss->stack.front().function.starts_with("many");
    ASSERT_TRUE(leak.fix);
    EXPECT_EQ(leak.allocation.api, many ? "operator new[]" : "operator new");
    EXPECT_TRUE(leak.fix->text.starts_with(many ? "`delete[] p`" : "`delete p`")) << leak.fix->text;
  }
}

// An exception that the callee catches is none of the caller's.
TEST(Check, WhatIsCaughtAsAStandardExceptionGoesNoFurther) {
  const auto with = [](const std::string& handler) {
    return check_source(R"(
#include <exception>
#include <cstdlib>
struct Problem : std::exception {};
struct Rare {};
void note(const char*);
void work(int n) {
  if (n > 3) throw Problem();
}
void guarded(int n) {
  try { work(n); } catch ()" +
                            handler + R"() { note("failed"); exit(1); }
}
void use(int n) {
  int *p = new int(n);
  guarded(*p);
  delete p;
}
)",
                        "cc");
  };
  EXPECT_EQ(finders(with("const std::exception &e")), Names{});
  EXPECT_EQ(finders(with("Rare &e")), Names{"use"});
}

// The scope ends when an exception passes, and it says so, though `delete` stands below.
TEST(Check, WhatAnExceptionLosesIsLostWhereItIsThrown) {
  const Report report = check_source(R"(
struct Problem {};
struct Guard {
  ~Guard();
};
void work(int n) {
  if (n > 3) throw Problem();
}
int use(int n) {
  Guard guard;
  int *p = new int(n);
  work(n);
  delete p;
  return n;
}
)",
                                     "cc");
  ASSERT_EQ(report.leaks.size(), 1u);
  const Leak& leak = report.leaks[0];
  EXPECT_EQ(leak.when, When::throwing);
  EXPECT_EQ(leak.loss->stack.front().line, 12u);
  ASSERT_GE(leak.path.size(), 2u);
  EXPECT_EQ(leak.path[1].text, "work(int) throws");
}

// Whichever of the calls made it larger, it is one buffer that is lost.
TEST(Check, ABufferThatGrowsIsOneFinding) {
  const Report report = check_source(R"(
#include <stdlib.h>
#include <string.h>
struct text { int pos, size; char *text; };
static void add(struct text *t, const char *s) {
  int length = (int)strlen(s);
  if (t->pos + length >= t->size) {
    t->size = t->pos + length + 128;
    t->text = t->text ? realloc(t->text, t->size) : malloc(t->size);
    if (!t->text) exit(1);
  }
  strcpy(t->text + t->pos, s);
  t->pos += length;
}
int put(const char *);
int write_bad(void) {
  struct text t = {0, 0, NULL};
  int status;
  add(&t, "a");
  add(&t, "b");
  add(&t, "c");
  status = put(t.text) > 0;
  return status;
}
)");
  ASSERT_EQ(report.leaks.size(), 1u);
  EXPECT_EQ(report.leaks[0].loss->holder->name, "t.text");
}

// Of two calls of which one path makes only one, none makes the other's block larger.
TEST(Check, BlocksOfAlternativesAreSeveralFindings) {
  const Report report = check_source(R"(
#include <stdlib.h>
int plain(const char *p, char **out) { *out = malloc(10); if (!*out) return -3; **out = *p; return 0; }
int fancy(const char *p, char **out) { *out = malloc(20); if (!*out) return -3; **out = *p; return 0; }
int put(const char *);
int write_bad(const char *p, int format) {
  int error = -9;
  char *out = NULL;
  switch (format) {
    case 1: error = plain(p, &out); break;
    case 2: error = fancy(p, &out); break;
  }
  if (out && error == 0) put(out);
  return error;
}
int write_ok(const char *p, int format) {
  int error = -9;
  char *out = NULL;
  switch (format) {
    case 1: error = plain(p, &out); break;
    case 2: error = fancy(p, &out); break;
  }
  if (out && error == 0) put(out);
  free(out);
  return error;
}
)");
  ASSERT_EQ(report.leaks.size(), 2u);
  for (const Leak& leak : report.leaks) EXPECT_EQ(leak.loss->stack.front().function, "write_bad");
  EXPECT_NE(report.leaks[0].allocation.stack.back().line,
            report.leaks[1].allocation.stack.back().line);
}

TEST(Check, AUnitThatDoesNotCompileIsAnError) {
  const std::string path = testing::TempDir() + "/plumb_check_broken.c";
  ASSERT_TRUE(write_file(path, "int main( {"));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = shipped_models("c.models");
  const Result<CheckOutcome> report = check_program(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().where, path);
}

}  // namespace
}  // namespace plumb::check
