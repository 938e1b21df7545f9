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

// In a member, where a function has put its own unless it was given one.
constexpr const char* kSession = R"(
#include <stdlib.h>
#include <string.h>
typedef void *(*make_fn)(size_t, void **);
typedef void (*drop_fn)(void *, void **);
struct session { int state; make_fn make; drop_fn drop; void *user; };
static void *own_make(size_t n, void **user) { (void)user; return malloc(n); }
static void own_drop(void *p, void **user) { (void)user; free(p); }
struct session *open_session(make_fn make, drop_fn drop, void *user) {
  make_fn m = own_make;
  drop_fn d = own_drop;
  if (make) m = make;
  if (drop) d = drop;
  struct session *s = m(sizeof *s, &user);
  if (!s) return 0;
  s->state = 0;
  s->make = m;
  s->drop = d;
  s->user = user;
  return s;
}
)";

TEST(SettableAllocator, InAMember) {
  expect_by_name(std::string(kSession) + R"(
int member_bad(struct session *s, int n) {
  char *p = s->make(9, &s->user);
  if (!p) return 0;
  p[0] = 1;
  if (n > 3) return -1;
  s->drop(p, &s->user);
  return 0;
}
int member_ok(struct session *s, int n) {
  char *p = s->make(9, &s->user);
  if (!p) return 0;
  p[0] = 1;
  if (n > 3) { s->drop(p, &s->user); return -1; }
  s->drop(p, &s->user);
  return 0;
}
)");
}

// A default that is chosen in an expression, and one in a table that a member points to.
TEST(SettableAllocator, InATableBehindAMember) {
  expect_by_name(std::string(kHooks) + R"(
struct methods { void *(*make)(size_t); void (*drop)(void *); };
struct base { const struct methods *with; };
static const struct methods kOwn = {malloc, free};
void base_init(struct base *b, const struct methods *with) { b->with = with ? with : &kOwn; }
int behind_bad(struct base *b, int n) { char *p = b->with->make(9); if (n) return 1; b->with->drop(p); return 0; }
int behind_ok(struct base *b, int n) { char *p = b->with->make(9); if (n) { b->with->drop(p); return 1; } b->with->drop(p); return 0; }
struct pair { void *(*make)(size_t); void (*drop)(void *); };
void pair_init(struct pair *b, void *(*m)(size_t), void (*d)(void *)) { b->make = m ? m : malloc; b->drop = d ? d : free; }
int chosen_bad(struct pair *b, int n) { char *p = b->make(9); if (n) return 1; b->drop(p); return 0; }
int chosen_ok(struct pair *b, int n) { char *p = b->make(9); if (n) { b->drop(p); return 1; } b->drop(p); return 0; }
)");
}

// A member that one of several functions is put into, and one that is no allocator.
TEST(SettableAllocator, OtherMembersStayUnknown) {
  expect_by_name(std::string(kHooks) + R"(
struct sink { void (*put)(void *); void (*take)(void *); };
static void *kept;
static void keep(void *p) { kept = p; }
static void ignore(void *p) { (void)p; }
void sink_init(struct sink *s, int n) { s->put = n ? keep : free; s->take = ignore; }
void put_ok(struct sink *s) { void *p = malloc(9); s->put(p); }
void take_ok(struct sink *s) { void *p = malloc(9); s->take(p); }
)");
}

// In a global that is empty at first, until a function fills it in that is only given it.
// What it puts there also says when there is no memory left.
TEST(SettableAllocator, InATableThatIsFilledInLater) {
  expect_by_name(R"(
#include <stdlib.h>
#include <string.h>
struct table { void *(*make)(size_t); char *(*copy)(const char *, size_t); void (*drop)(void *); };
struct table with;
void say(const char *what);
static void *own_make(size_t n) { void *p = malloc(n); if (!p) say("memory"); return p; }
static char *own_copy(const char *text, size_t n) {
  char *p = malloc(n + 1);
  if (!p) return 0;
  memcpy(p, text, n);
  p[n] = 0;
  return p;
}
static void own_drop(void *p) { free(p); }
int table_own(struct table *t) { t->make = own_make; t->copy = own_copy; t->drop = own_drop; return 0; }
int table_init(void) { return with.make ? 0 : table_own(&with); }
int table_set(const struct table *t) { memcpy(&with, t, sizeof with); return 0; }
int made_bad(int n) { char *p = with.make(9); if (!p) return 0; if (n) return 1; with.drop(p); return 0; }
int made_ok(int n) { char *p = with.make(9); if (!p) return 0; if (n) { with.drop(p); return 1; } with.drop(p); return 0; }
int copied_bad(int n) { char *p = with.copy("text", 4); if (!p) return 0; if (n) return 1; with.drop(p); return 0; }
int copied_ok(int n) { char *p = with.copy("text", 4); if (!p) return 0; if (n) { with.drop(p); return 1; } with.drop(p); return 0; }
void *(*make_one)(size_t);
void (*drop_one)(void *);
void one_init(void) { make_one = malloc; drop_one = free; }
int one_bad(int n) { char *p = make_one(9); if (!p) return 0; if (n) return 1; drop_one(p); return 0; }
int one_ok(int n) { char *p = make_one(9); if (!p) return 0; if (n) { drop_one(p); return 1; } drop_one(p); return 0; }
)");
}

// One that does more with what it is given, or that is put there beside an allocator.
TEST(SettableAllocator, OtherTablesStayUnknown) {
  expect_by_name(R"(
#include <stdlib.h>
struct thing { char *name; struct thing *next; };
struct table { struct thing *(*make)(size_t); void (*drop)(struct thing *); void (*put)(void *); };
struct table with;
static struct thing *all;
static struct thing *own_make(size_t n) { struct thing *p = malloc(n); if (p) { p->next = all; all = p; } return p; }
static void own_drop(struct thing *p) { free(p->name); free(p); }
static void keep(void *p) { all = p; }
void table_own(struct table *t, int n) { t->make = own_make; t->drop = own_drop; t->put = n ? keep : free; }
void table_init(int n) { table_own(&with, n); }
void made_ok(void) { struct thing *p = with.make(sizeof *p); if (p) p->name = 0; }
void put_ok(void) { void *p = malloc(9); with.put(p); }
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
