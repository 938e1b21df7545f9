// Allocators that a library lets its users set: the global has the default one at first.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kHooks = R"(
#include <stdlib.h>
#include <string.h>
void *(*lib_malloc)(size_t) = malloc;
void (*lib_free)(void *) = free;
char *(*lib_strdup)(const char *) = strdup;
void lib_set(void *(*m)(size_t), void (*f)(void *), char *(*s)(const char *)) {
  lib_malloc = m;
  lib_free = f;
  lib_strdup = s;
}
void unknown(void);
)";

TEST(SettableAllocator, IsTheOneThatItIsAtFirst) {
  expect_by_name(std::string(kHooks) + R"(
int plain_bad(int n) {
  char *p = lib_malloc(9);
  if (!p) return 0;
  p[0] = 1;
  if (n > 3) return -1;
  lib_free(p);
  return 0;
}
int plain_ok(int n) {
  char *p = lib_malloc(9);
  if (!p) return 0;
  p[0] = 1;
  if (n > 3) { lib_free(p); return -1; }
  lib_free(p);
  return 0;
}
static char *copy(const char *text) { unknown(); return lib_strdup(text); }
static void drop(char *p) { unknown(); if (p) lib_free(p); }
int wrapped_bad(int n) { char *p = copy("a"); if (n) return 1; drop(p); return 0; }
int wrapped_ok(int n) { char *p = copy("a"); if (n) { drop(p); return 1; } drop(p); return 0; }
)");
}

// Together in a structure.
TEST(SettableAllocator, InATable) {
  expect_by_name(std::string(kHooks) + R"(
static struct { void *(*make)(size_t); void (*release)(void *); int level; } hooks = {malloc, free, 1};
void set_hooks(void *(*m)(size_t), void (*f)(void *)) { hooks.make = m; hooks.release = f; }
int table_bad(int n) { char *p = hooks.make(9); if (!p) return 0; if (n) return 1; hooks.release(p); return 0; }
int table_ok(int n) { char *p = hooks.make(9); if (n) { hooks.release(p); return 1; } hooks.release(p); return 0; }
)");
}

// What is no allocator at first may do anything later.
TEST(SettableAllocator, OthersStayUnknown) {
  expect_by_name(std::string(kHooks) + R"(
static void ignore(char *p) { (void)p; }
void (*sink)(char *) = ignore;
void (*later)(char *);
void set_sink(void (*f)(char *)) { sink = f; later = f; }
void sink_ok(void) { char *p = malloc(9); sink(p); }
void later_ok(void) { char *p = malloc(9); if (later) later(p); else free(p); }
)");
}

}  // namespace
}  // namespace plumb::check
