// What all callers of a static function pass it.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// A list of entries that are kept by their parent, if there is one.
constexpr const char* kTree = R"(
struct tree { struct tree *child; struct tree *next; char *name; };
static struct tree *make(const char *name) {
  struct tree *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->name = strdup(name);
  return made;
}
)";

TEST(Passed, NoCallerPassesNull) {
  expect_by_name(std::string(kHeader) + kTree + R"(
static void add_ok(struct tree *parent, const char *name) {
  struct tree *entry = make(name);
  if (!entry) return;
  if (parent) { entry->next = parent->child; parent->child = entry; }
}
static void add_bad(struct tree *parent, const char *name) {
  struct tree *entry = make(name);
  if (!entry) return;
  if (parent) { entry->next = parent->child; parent->child = entry; }
}
static struct tree top;
struct tree *checked(const char *name) {
  struct tree *made = make(name);
  if (!made) return NULL;
  add_ok(made, name);
  add_ok(&top, name);
  add_bad(made, name);
  return made;
}
void given(struct tree *parent) {
  if (parent == NULL) return;
  add_ok(parent, "given");
}
void open(struct tree *parent) { add_bad(parent, "open"); }
)");
}

// Functions that call each other, and hand on what they were passed.
TEST(Passed, RoundAbout) {
  expect_by_name(std::string(kHeader) + kTree + R"(
static void all_ok(const char **names, struct tree *parent);
static void one_ok(const char **names, struct tree *parent) {
  struct tree *entry = make(*names);
  if (!entry) return;
  if (parent) { entry->next = parent->child; parent->child = entry; }
  if (**names == '(') all_ok(names + 1, entry);
}
static void all_ok(const char **names, struct tree *parent) {
  while (*names) one_ok(names++, parent);
}
static void every(const char **names, struct tree *parent);
static void one_bad(const char **names, struct tree *parent) {
  struct tree *entry = make(*names);
  if (!entry) return;
  if (parent) { entry->next = parent->child; parent->child = entry; }
  if (**names == '(') every(names + 1, parent ? parent->next : NULL);
}
static void every(const char **names, struct tree *parent) {
  while (*names) one_bad(names++, parent);
}
struct tree *file(const char **names) {
  struct tree *top = make("top");
  if (!top) return NULL;
  all_ok(names, top);
  every(names, top);
  return top;
}
)");
}

TEST(Passed, OneOfAFewNumbers) {
  expect_by_name(std::string(kHeader) + R"(
static int kind_ok(const char *text, int kind) {
  char *copy = strdup(text);
  if (!copy) return -1;
  switch (kind) {
    case 1: puts(copy); break;
    case 2: puts(copy + 1); break;
    case 7: return -1;
  }
  free(copy);
  return 0;
}
static int kind_bad(const char *text, int kind) {
  char *copy = strdup(text);
  if (!copy) return -1;
  switch (kind) {
    case 1: puts(copy); break;
    case 2: puts(copy + 1); break;
    case 7: return -1;
  }
  free(copy);
  return 0;
}
int first(const char *text) { return kind_ok(text, 1) + kind_bad(text, 1); }
int second(const char *text) { return kind_ok(text, 2) + kind_bad(text, 7); }
)");
}

// A block of no bytes is a block all the same, and a loop that runs so often is one.
TEST(Passed, NumbersThatAreKnownHideNothing) {
  expect_by_name(std::string(kHeader) + R"(
static int empty_bad(long size) {
  char *block = malloc(size);
  return block == 0;
}
static void filled_bad(long count) {
  char **texts = malloc(count * sizeof *texts);
  for (long i = 0; i < count; ++i) texts[i] = NULL;
}
static void filled_ok(long count) {
  char **texts = malloc(count * sizeof *texts);
  for (long i = 0; i < count; ++i) texts[i] = NULL;
  free(texts);
}
int all(void) {
  filled_bad(3);
  filled_bad(1000);
  filled_ok(3);
  filled_ok(1000);
  return empty_bad(0);
}
)");
}

// Who else calls it is not known: its address is taken, it has another name, or all may
// call it.
TEST(Passed, OthersMayCallIt) {
  expect_by_name(std::string(kHeader) + R"(
static int taken_bad(int *count) {
  char *copy = malloc(9);
  if (!copy) return -1;
  if (!count) return -1;
  free(copy);
  return ++*count;
}
static int named_bad(int *count) {
  char *copy = malloc(9);
  if (!copy) return -1;
  if (!count) return -1;
  free(copy);
  return ++*count;
}
int other_name(int *count) __attribute__((alias("named_bad")));
int seen_bad(int *count) {
  char *copy = malloc(9);
  if (!copy) return -1;
  if (!count) return -1;
  free(copy);
  return ++*count;
}
int (*called)(int *) = taken_bad;
int all(void) {
  int count = 0;
  return taken_bad(&count) + named_bad(&count) + seen_bad(&count);
}
)");
}

// What a loop has changed by the time of a later round counts, too.
TEST(Passed, LaterRounds) {
  expect_by_name(std::string(kHeader) + kTree + R"(
static void walk_bad(struct tree *at, int round) {
  char *copy = strdup("walk");
  if (!copy) return;
  if (!at) return;
  if (round > 3) return;
  free(copy);
}
static void walk_ok(struct tree *at, int round) {
  char *copy = strdup("walk");
  if (!copy) return;
  if (!at) return;
  if (round < 0) return;
  free(copy);
}
void rounds(struct tree *first) {
  if (!first) return;
  struct tree *at = first;
  for (int i = 0; i < 9; ++i) {
    walk_bad(at, i);
    at = at->next;
  }
  for (int i = 0; i < 9; ++i) walk_ok(first, i);
}
)");
}

}  // namespace
}  // namespace plumb::check
