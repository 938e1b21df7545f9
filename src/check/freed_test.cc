// What is freed twice, or in another way than it was made.
#include "check/source_check.h"

namespace plumb::check {
namespace {

Names found(const std::string& source, Kind kind, std::string_view extension = "c") {
  Report report = check_source(source, extension, [](CheckOptions& options) {
    options.also = {"double-free", "mismatched-free"};
  });
  std::erase_if(report.leaks, [&](const Leak& leak) { return leak.kind != kind; });
  return finders(report);
}

TEST(Freed, TwiceOnOnePath) {
  EXPECT_EQ(found(R"(
#include <stdlib.h>
int use(const char *p);
void plainly_bad(void) { char *p = malloc(4); free(p); free(p); }
void on_error_bad(int n) {
  char *p = malloc(4);
  if (use(p) < 0) { free(p); goto out; }
  if (n) p[0] = 0;
out:
  free(p);
}
void on_error_ok(int n) {
  char *p = malloc(4);
  if (use(p) < 0) { free(p); p = NULL; goto out; }
  if (n) p[0] = 0;
out:
  free(p);
}
void flag_ok(int n) {
  char *p = malloc(4);
  int done = 0;
  if (n) { free(p); done = 1; }
  if (!done) free(p);
}
void loop_ok(int n) {
  char *p = malloc(4);
  while (n--) { free(p); p = malloc(4); }
  free(p);
}
void either_ok(int n) { char *p = malloc(4); if (n) free(p); else free(p); }
void grown_ok(void) {
  char *p = malloc(4);
  char *q = realloc(p, 8);
  if (!q) { free(p); return; }
  free(q);
}
void grown_bad(void) {
  char *p = malloc(4);
  char *q = realloc(p, 8);
  if (q) { free(q); free(p); }
}
)",
                  Kind::double_free),
            (Names{"plainly_bad", "on_error_bad", "grown_bad"}));
}

TEST(Freed, TwiceAcrossFunctions) {
  EXPECT_EQ(found(R"(
#include <stdlib.h>
struct box { int count; char *data; };
static void give(char *p) { free(p); }
static char *spent(void) { char *p = malloc(4); free(p); return p; }
static void reset(struct box *b) { free(b->data); b->data = NULL; }
static void drop(struct box *b) { free(b->data); }
static void unref(struct box *b) { if (--b->count == 0) { free(b); } }
void callee_bad(void) { char *p = malloc(4); give(p); free(p); }
void caller_bad(void) { char *p = malloc(4); free(p); give(p); }
void spent_bad(void) { char *p = spent(); free(p); }
void reset_ok(void) { struct box b = {1, malloc(4)}; reset(&b); reset(&b); }
void drop_bad(void) { struct box b = {1, malloc(4)}; drop(&b); drop(&b); }
void counted_ok(void) {
  struct box *b = malloc(sizeof *b);
  b->count = 2;
  unref(b);
  unref(b);
}
)",
                  Kind::double_free),
            (Names{"callee_bad", "caller_bad", "spent_bad", "drop_bad"}));
}

TEST(Freed, InAnotherWayThanItWasMade) {
  EXPECT_EQ(found(R"(
#include <stdlib.h>
#include <string.h>
#include <memory>
static char* make() { return new char[4]; }
static void give(char* p) { delete p; }
void array_bad() { int* p = new int[4]; delete p; }
void object_bad() { int* p = new int(4); delete[] p; }
void free_bad() { int* p = new int(4); free(p); }
void delete_bad() { char* p = strdup("x"); delete[] p; }
void made_bad() { char* p = make(); free(p); }
void given_bad() { give(make()); }
void array_ok() { int* p = new int[4]; delete[] p; }
void object_ok() { int* p = new int(4); delete p; }
void free_ok() { char* p = strdup("x"); free(p); }
void made_ok() { char* p = make(); delete[] p; }
void owned_ok() { std::unique_ptr<int[]> p(new int[4]); }
void unclear_ok(int n) {
  char* p = n ? strdup("x") : new char[4];
  if (n) free(p); else delete[] p;
}
)",
                  Kind::mismatched_free, "cc"),
            (Names{"array_bad", "object_bad", "free_bad", "delete_bad", "made_bad", "given_bad"}));
}

TEST(Freed, OnlyWhenAskedAndWithBothPlaces) {
  const std::string source = R"(
#include <stdlib.h>
void twice(void) {
  char *p = malloc(4);
  free(p);
  free(p);
}
)";
  EXPECT_TRUE(check_source(source).leaks.empty());
  const Report report =
      check_source(source, "c", [](CheckOptions& options) { options.also = {"double-free"}; });
  ASSERT_EQ(report.leaks.size(), 1u);
  const Leak& leak = report.leaks[0];
  EXPECT_EQ(leak.kind, Kind::double_free);
  EXPECT_FALSE(leak.loss);
  ASSERT_EQ(leak.frees.size(), 1u);
  EXPECT_EQ(leak.frees[0].stack.front().line, 5u);
  EXPECT_EQ(leak.path.back().location.line, 6u);
  EXPECT_EQ(leak.path.back().event, "free");
}

}  // namespace
}  // namespace plumb::check
