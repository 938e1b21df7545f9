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

std::string models() {
  const std::filesystem::path here(PLUMB_TEST_DATA);
  const Result<std::string> text =
      read_file((here / "../../../models/c.models").lexically_normal().string());
  EXPECT_TRUE(text);
  return text.value_or("");
}

Report check_source(const std::string& source) {
  const std::string path = fmt::format("{}/plumb_check_test.{}.c", testing::TempDir(), getpid());
  EXPECT_TRUE(write_file(path, source));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = {models(), "models/c.models"};
  Result<CheckOutcome> outcome = check_program(options);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  return outcome ? outcome->report : Report{};
}

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

// Each source has functions whose name says what is right: *_bad loses a block,
// *_ok does not.
void expect_by_name(const std::string& source) {
  const Report report = check_source(source);
  std::set<std::string> lost_in;
  for (const Leak& leak : report.leaks) lost_in.insert(leak.loss->stack.front().function);
  for (const std::string& function : lost_in) {
    EXPECT_TRUE(function.ends_with("_bad")) << function << " loses nothing";
  }
  for (std::size_t at = source.find("_bad("); at != std::string::npos;
       at = source.find("_bad(", at + 1)) {
    const std::size_t start = source.find_last_of(" *", at) + 1;
    const std::string name = source.substr(start, at + 4 - start);
    EXPECT_TRUE(lost_in.contains(name)) << name << " loses a block";
  }
}

constexpr const char* kHeader = R"(
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
)";

// A system call fills the structure that it is given, not those around it.
TEST(Check, WhatStatFillsIsKnown) {
  expect_by_name(kHeader + std::string(R"(
#include <sys/stat.h>
struct entry { char *name; struct stat stat; char *link; };
static void clear(struct entry *e) { free(e->name); free(e->link); }
int stat_ok(struct entry *e, const char *n) {
  e->name = strdup(n);
  e->link = strdup(n);
  if (stat(n, &e->stat) != 0) return -1;
  return 0;
}
int local_ok(const char *n) {
  struct entry e;
  e.name = strdup(n);
  e.link = strdup(n);
  int r = lstat(n, &e.stat);
  clear(&e);
  return r;
}
int local_bad(const char *n) {
  struct entry e;
  e.name = strdup(n);
  e.link = 0;
  int r = lstat(n, &e.stat);
  if (r < 0) return -1;
  clear(&e);
  return r;
}
)"));
}

// What counts references, or looks whether the object is sound, frees when nothing is
// known to the contrary.
TEST(Check, ADestructorThatTellsNobodyFrees) {
  expect_by_name(kHeader + std::string(R"(
struct buf { char *data; int refs, size, off; struct buf *parent; };
static int sane(const struct buf *b) { return b->off <= b->size && b->refs > 0 ? 0 : -1; }
static struct buf *buf_new(void) {
  struct buf *b = calloc(1, sizeof *b);
  if (!b) return 0;
  b->refs = 1;
  b->data = malloc(100);
  if (!b->data) { free(b); return 0; }
  return b;
}
static void buf_free(struct buf *b) {
  if (!b) return;
  if (sane(b) != 0) return;
  b->refs--;
  if (b->refs > 0) return;
  buf_free(b->parent);
  free(b->data);
  free(b);
}
int put(struct buf *b, int n);
static int fill(struct buf *b, int n) { b->size = n; b->off = 0; return n < 100 ? 0 : -1; }
int use_ok(int n) {
  struct buf *b = buf_new();
  if (!b) return -1;
  if (fill(b, n) != 0) { buf_free(b); return -1; }
  int size = b->size;
  buf_free(b);
  return size;
}
int use_bad(int n) {
  struct buf *b = buf_new();
  if (!b) return -1;
  if (fill(b, n) != 0) return -1;
  buf_free(b);
  return 0;
}
static void end(char *p, int owned) { if (owned) free(p); }
void known_bad(void) { char *p = malloc(8); if (p) end(p, 0); }
void known_ok(void) { char *p = malloc(8); if (p) end(p, 1); }
static int take(char *p, int n) { if (n > 9) return -1; free(p); return 0; }
int told_bad(int n) { char *p = malloc(8); if (!p) return 0; return take(p, n); }
int told_ok(int n) {
  char *p = malloc(8);
  if (!p) return 0;
  if (take(p, n) != 0) free(p);
  return 0;
}
)"));
}

TEST(Check, AFlagOrLengthSaysWhoOwns) {
  expect_by_name(kHeader + std::string(R"(
struct set { long alloc, count; long *elems; };
static int insert(struct set *s, long e) {
  if (s->alloc == 0) {
    s->elems = malloc(sizeof(long));
    if (!s->elems) return 0;
    s->alloc = 1; s->count = 1; s->elems[0] = e;
    return 1;
  }
  if (s->alloc == s->count) {
    long *more = realloc(s->elems, 2 * s->alloc * sizeof(long));
    if (!more) return 0;
    s->alloc = 2 * s->alloc;
    s->elems = more;
  }
  s->elems[s->count++] = e;
  return 1;
}
void fill_ok(struct set *s, int n) {
  for (int i = 0; i < n; i++) if (!insert(s, i)) return;
}
void clear_ok(int n) {
  struct set s = {0};
  for (int i = 0; i < n; i++) insert(&s, i);
  free(s.elems);
}
void clear_bad(int n) {
  struct set s = {0};
  for (int i = 0; i < n; i++) insert(&s, i);
}
)"));
}

TEST(Check, CountedReferences) {
  expect_by_name(kHeader + std::string(R"(
struct shared { long count; };
static struct shared *create(void) {
  struct shared *s = calloc(1, sizeof *s);
  if (!s) abort();
  s->count = 1;
  return s;
}
static struct shared *get(struct shared *s) { s->count++; return s; }
static void put(struct shared *s) { if (--s->count) return; free(s); }
void use_ok(void) {
  struct shared *mine = create();
  struct shared *yours = get(mine);
  put(mine);
  put(yours);
}
void use_bad(void) {
  struct shared *mine = create();
  struct shared *yours = get(mine);
  put(yours);
}
void elements_ok(long count) {
  char *parts[count];
  for (long i = 0; i < count; i++) parts[i] = malloc(9);
  for (long i = 0; i < count; i++) free(parts[i]);
}
)"));
}

TEST(Check, AProductSaysSomethingOfItsFactors) {
  expect_by_name(kHeader + std::string(R"(
struct context { int *refs; };
static int init(struct context *c, int n) {
  if (n > 0) c->refs = malloc(n * sizeof(int));
  return 0;
}
int search_ok(int count) {
  struct context c = {0};
  if (init(&c, count * 2) != 0) return -1;
  if (count) free(c.refs);
  return 0;
}
int search_bad(int count, int quick) {
  struct context c = {0};
  if (init(&c, count * 2) != 0) return -1;
  if (quick) free(c.refs);
  return 0;
}
)"));
}

TEST(Check, ACleanupGoesOnWhereItWasSentTo) {
  expect_by_name(kHeader + std::string(R"(
char *parse_ok(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (!copy) return 0;
  for (const char *p = text;; p++) {
    int kind = *p;
    switch (kind) {
      case 0: goto done;
      case '?': goto invalid;
      default: break;
    }
  }
done:
  return copy;
invalid:
  free(copy);
  return 0;
}
char *parse_bad(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (!copy) return 0;
  for (const char *p = text;; p++) {
    int kind = *p;
    switch (kind) {
      case 0: goto done;
      case '?': goto invalid;
      default: break;
    }
  }
done:
  return copy;
invalid:
  return 0;
}
)"));
}

TEST(Check, BuffersThatTheLibraryFills) {
  expect_by_name(kHeader + std::string(R"(
int lines_bad(FILE *f) {
  char *line = 0; size_t size = 0; int n = 0;
  while (getline(&line, &size, f) > 0) n++;
  return n;
}
int lines_ok(FILE *f) {
  char *line = 0; size_t size = 0; int n = 0;
  while (getline(&line, &size, f) > 0) n++;
  free(line);
  return n;
}
)"));
}

TEST(Check, ACalleeThatKeepsOnlySometimes) {
  expect_by_name(kHeader + std::string(R"(
static const char *names[100]; static int count;
static int keep(const char *name) {
  if (!name[0]) return -1;
  names[count] = name;
  return count++;
}
int add_bad(const char *name) { return keep(strdup(name)); }
int add_ok(const char *name) {
  char *copy = strdup(name);
  int at = keep(copy);
  if (at < 0) free(copy);
  return at;
}
)"));
}

TEST(Check, AddressesThatProgramsWriteDownAreNoBlocks) {
  expect_by_name(kHeader + std::string(R"(
struct zone { struct zone *next; };
#define LOCAL ((struct zone *)1)
static void drop(struct zone *z) {
  if (z != LOCAL)
    while (z) { struct zone *next = z->next; free(z); z = next; }
}
int use_ok(int n) {
  struct zone *z = malloc(sizeof *z);
  if (!z) return 0;
  z->next = 0;
  drop(z);
  return n;
}
int use_bad(int n) {
  struct zone *z = malloc(sizeof *z);
  if (!z) return 0;
  z->next = 0;
  if (n) drop(z);
  return n;
}
)"));
}

TEST(Check, ElementsOfAnArrayThatGrows) {
  expect_by_name(kHeader + std::string(R"(
char **copy_ok(char **from, int n) {
  char **to = calloc(n + 1, sizeof *to);
  if (!to) return 0;
  for (int i = 0; i < n; i++) to[i] = strdup(from[i]);
  return to;
}
void overwrite_bad(char **from, int n) {
  char *to = 0;
  for (int i = 0; i < n; i++) to = strdup(from[i]);
  free(to);
}
)"));
}

TEST(Check, ALengthBesideABlockSaysWhoOwnsIt) {
  expect_by_name(kHeader + std::string(R"(
struct set { long alloc; long used; int *elements; };
static int add(struct set *s, int element) {
  if (s->alloc == 0) {
    s->elements = malloc(sizeof(int));
    s->alloc = 1;
  } else if (s->used == s->alloc) {
    s->elements = realloc(s->elements, 2 * s->alloc * sizeof(int));
    s->alloc *= 2;
  }
  s->elements[s->used++] = element;
  return 1;
}
void collect(struct set *s);
void grows_ok(struct set *from) {
  struct set s;
  s.alloc = from->used;
  s.used = 0;
  s.elements = malloc(s.alloc * sizeof(int));
  add(&s, 5);
  free(s.elements);
}
void unknown_length_ok(long *length) {
  struct set s;
  s.elements = malloc(64);
  s.alloc = *length;
  s.used = 1;
  add(&s, 5);
  free(s.elements);
}
void known_length_bad(void) {
  struct set s;
  s.elements = malloc(64);
  s.alloc = 0;
  s.used = 0;
  add(&s, 5);
  free(s.elements);
}
)"));
}

TEST(Check, AFunctionThatReturnsWhatItIsGivenUnlessThatIsNull) {
  expect_by_name(kHeader + std::string(R"(
struct cell { struct cell *next; int n; };
static struct cell *append(struct cell *list, int n) {
  if (!list) {
    struct cell *last = malloc(sizeof *last);
    last->next = 0;
    last->n = n;
    return last;
  } else {
    struct cell *at = list;
    while (at->next) at = at->next;
    at->next = append(at->next, n);
    return list;
  }
}
struct cell *two_ok(void) {
  struct cell *list = 0;
  list = append(list, 1);
  list = append(list, 2);
  return list;
}
struct cell *two_bad(void) {
  struct cell *list = 0;
  list = append(list, 1);
  list = append(0, 2);
  return list;
}
)"));
}

TEST(Check, AWrapperOfReallocMovesWhatTheBlockHeld) {
  expect_by_name(kHeader + std::string(R"(
static void *grow(void *p, unsigned long n) {
  void *q = realloc(p, n);
  if (!q) exit(1);
  return q;
}
char **names_ok(void) {
  char **names = malloc(8);
  names[0] = malloc(4);
  names = grow(names, 16);
  return names;
}
char **names_bad(void) {
  char **names = malloc(8);
  names[0] = malloc(4);
  char **fresh = malloc(16);
  free(names);
  return fresh;
}
)"));
}

TEST(Check, NoSizeIsBeyondMemory) {
  expect_by_name(kHeader + std::string(R"(
static int reserve(char **out, unsigned long n) {
  if (n > (unsigned long)-1 / 16) return -1;
  *out = malloc(n * 16);
  return 0;
}
int twice_ok(unsigned long n) {
  char *a, *b;
  if (reserve(&a, n)) return -1;
  if (reserve(&b, n + 1)) return -1;
  free(b);
  free(a);
  return 0;
}
int twice_bad(unsigned long n, int quick) {
  char *a, *b;
  if (reserve(&a, n)) return -1;
  if (quick) return -1;
  if (reserve(&b, n + 1)) return -1;
  free(b);
  free(a);
  return 0;
}
)"));
}

TEST(Check, AWalkAlongAStringStaysInIt) {
  expect_by_name(kHeader + std::string(R"(
struct folder { const char *name; int fd; };
static struct folder folders[100];
static int folder_count;
// Keeps the name, unless it is that of the folder one is in.
static int change_to(const char *name) {
  while (name[0] == '.' && name[1] == '/')
    for (name += 2; *name == '/'; name++) continue;
  if (!name[name[0] == '.']) return folder_count - 1;
  folders[folder_count].name = name;
  folders[folder_count].fd = 0;
  return folder_count++;
}
static int look_at(const char *name) {
  int n = 0;
  while (*name == '/') { name++; n++; }
  return n;
}
int change_bad(const char *to) { return change_to(strdup(to)); }
int change_ok(const char *to) { return change_to(to); }
int look_bad(const char *to) { return look_at(strdup(to)); }
int look_ok(const char *to) {
  char *copy = strdup(to);
  int n = look_at(copy);
  free(copy);
  return n;
}
static void free_all(char **each) { while (*each) free(*each++); }
static void leave_all(char **each) { while (*each) puts(*each++); }
void elements_ok(int n) {
  char **all = calloc(n + 1, sizeof *all);
  for (int i = 0; i < n; i++) all[i] = malloc(9);
  free_all(all);
  free(all);
}
void elements_bad(void) {
  char **all = calloc(2, sizeof *all);
  all[0] = malloc(9);
  leave_all(all);
  free(all);
}
)"));
}

TEST(Check, AGlobalThatIsOverwritten) {
  expect_by_name(kHeader + std::string(R"(
char *held;
static char *path;
struct { int n; char *text; } box;
void unknown(void);
void twice_bad(void) { held = malloc(9); held = malloc(8); }
void twice_ok(void) { held = malloc(9); free(held); held = malloc(8); }
void once_ok(void) { held = malloc(9); }
void asked_ok(void) { if (!held) held = malloc(9); }
void others_ok(void) { held = malloc(9); unknown(); held = malloc(8); }
int options_bad(int c, char **v) {
  while (c-- > 0) if (v[c][0] == 'f') path = strdup(v[c]);
  return path != 0;
}
int options_ok(int c, char **v) {
  while (c-- > 0) if (v[c][0] == 'f') { free(path); path = strdup(v[c]); }
  return path != 0;
}
static void fill(void) { box.text = malloc(7); }
static void clear(void) { box.text = 0; }
static void drop(void) { free(box.text); box.text = 0; }
static void drop_some(int n) { char *p = n ? box.text : path; free(p); box.text = 0; }
void box_bad(void) { fill(); clear(); }
void box_ok(void) { fill(); drop(); }
void some_ok(int n) { fill(); drop_some(n); }
static char *names[2];
void array_ok(char **v, int c) {
  for (int k = 0; k < c; k++) {
    for (int i = 0; i < 2; i++) { free(names[i]); names[i] = 0; }
    names[0] = strdup(v[k]);
  }
}
void array_bad(char **v, int c) {
  for (int k = 0; k < c; k++) names[0] = strdup(v[k]);
}
static void again(int n);
static void round(int n) { if (n) again(n - 1); }
static void again(int n) { free(box.text); box.text = 0; round(n); }
void cycle_ok(int n) { fill(); round(n); clear(); }
)"));
}

TEST(Check, AThreadFreesWhatItsFunctionFrees) {
  expect_by_name("#include <pthread.h>\n" + (kHeader + std::string(R"(
static void *reads(void *p) { return *(char *)p ? (void *)1 : 0; }
static void *frees(void *p) { free(p); return 0; }
static void *keeps(void *p) { static void *last; last = p; return 0; }
void give_bad(void) {
  pthread_t t;
  char *p = malloc(9);
  p[0] = 0;
  pthread_create(&t, 0, reads, p);
}
void give_ok(void) {
  pthread_t t;
  char *p = malloc(9);
  p[0] = 0;
  pthread_create(&t, 0, frees, p);
}
void give_on_ok(void) {
  pthread_t t;
  pthread_create(&t, 0, keeps, malloc(9));
}
)")));
}

TEST(Check, ACleanupThatSeveralWaysShareGoesOnWhereEachCameFrom) {
  expect_by_name(kHeader + std::string(R"(
struct table { long *values; long count, room; };
static long add(struct table *t, long value) {
  if (t->count >= t->room) {
    long *more = realloc(t->values, t->room * 16);
    if (!more) return -1;
    t->values = more;
    t->room *= 2;
  }
  t->values[t->count] = value;
  return t->count++;
}
// Fails only when memory runs out.
static int spread(struct table *t, long at) {
  for (;;) {
    long next;
    if (t->values[at] == 3) {
      next = add(t, at);
      if (next == -1) return 12;
    } else if (t->values[at] == 0) {
      break;
    } else {
      next = add(t, at + 1);
      if (next == -1) return 12;
    }
    at = next;
  }
  return 0;
}
static int fails(struct table *t, long at) {
  for (;;) {
    long next = t->values[at];
    if (next == 0) break;
    if (next == 7) return 12;
    at = next;
  }
  return 0;
}
int spread_ok(struct table *t) {
  char *name = malloc(9);
  if (spread(t, 1)) return 1;
  free(name);
  return 0;
}
int spread_bad(struct table *t) {
  char *name = malloc(9);
  if (fails(t, 1)) return 1;
  free(name);
  return 0;
}
static int collect(char **out, int n, const char *from) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    if (from[i] != 'x') continue;
    out[found] = malloc(8);
    ++found;
  }
  return found;
}
int collect_ok(const char *from) {
  char *all[9];
  int found = collect(all, 9, from);
  if (found <= 0) return 0;
  for (int i = 0; i < found; i++) free(all[i]);
  return found;
}
)"));
}

TEST(Check, ATagInTheAddressSaysWhoOwns) {
  expect_by_name(kHeader + std::string(R"(
#include <stdint.h>
// Blocks have the tag, memory on the stack has none.
static void *tagged(unsigned long n) {
  char *p = malloc(n + 32);
  if (!p) exit(1);
  return p + 16;
}
static void drop(void *p) { if ((uintptr_t)p & 31) free((char *)p - 16); }
void use_ok(int n) {
  char *p = tagged(n);
  p[0] = 1;
  drop(p);
}
void use_bad(int n) {
  char *p = tagged(n);
  p[0] = 1;
  if (n < 9) return;
  drop(p);
}
)"));
}

TEST(Check, WhatWasAccessedWasNoNull) {
  expect_by_name(kHeader + std::string(R"(
struct part { int *values; char **names; };
struct part *find(int n);
int copy_ok(struct part *from, int n) {
  struct part local = {0};
  local.names = 0;
  for (int i = 0; i < n; i++) {
    if (from->names[i] == 0) continue;
    if (!local.names) {
      local = *from;
      local.values = malloc(9);
    }
  }
  if (local.names) free(local.values);
  return n;
}
int copy_bad(struct part *from, int n) {
  struct part local = {0};
  if (n > 3) {
    local = *from;
    local.values = malloc(9);
  }
  if (local.names) free(local.values);
  return n;
}
)"));
}

TEST(Check, ALengthIsNotNegative) {
  expect_by_name(kHeader + std::string(R"(
static const char *known;
void sizes_ok(const char *a, const char *b, int n) {
  char *all = 0;
  unsigned long size = 0;
  for (int i = 0; i < n; i++) {
    unsigned long more = strlen(a) + 1 + strlen(b) + 1;
    size += more;
    all = realloc(all, size + 1);
  }
  known = size == 0 ? "" : all;
}
)"));
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
  options.models = {models(), "models/c.models"};
  options.show_summary = "make";
  const Result<CheckOutcome> outcome = check_program(options);
  ASSERT_TRUE(outcome);
  EXPECT_NE(outcome->summaries.find("lives; *out = the block"), std::string::npos)
      << outcome->summaries;
  EXPECT_NE(outcome->summaries.find("returns 0"), std::string::npos) << outcome->summaries;
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

TEST(Check, AUnitThatDoesNotCompileIsAnError) {
  const std::string path = testing::TempDir() + "/plumb_check_broken.c";
  ASSERT_TRUE(write_file(path, "int main( {"));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = {models(), "models/c.models"};
  const Result<CheckOutcome> report = check_program(options);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().where, path);
}

}  // namespace
}  // namespace plumb::check
