// Who owns a block: flags, lengths, counts, tags and callees that keep only sometimes.

#include "check/source_check.h"

namespace plumb::check {
namespace {

// What counts references, or looks whether the object is sound, frees when nothing is
// known to the contrary.
TEST(Ownership, ADestructorThatTellsNobodyFrees) {
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

TEST(Ownership, AFlagOrLengthSaysWhoOwns) {
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

TEST(Ownership, CountedReferences) {
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

TEST(Ownership, ACalleeThatKeepsOnlySometimes) {
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

TEST(Ownership, AddressesThatProgramsWriteDownAreNoBlocks) {
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

TEST(Ownership, ALengthBesideABlockSaysWhoOwnsIt) {
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

TEST(Ownership, AFunctionThatReturnsWhatItIsGivenUnlessThatIsNull) {
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

TEST(Ownership, ATagInTheAddressSaysWhoOwns) {
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

}  // namespace
}  // namespace plumb::check
