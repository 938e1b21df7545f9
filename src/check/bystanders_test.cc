// Calls through pointers: what the functions that may be behind them leave alone.
#include "check/source_check.h"

namespace plumb::check {
namespace {

// Keys are hashed and compared, values are destroyed; which function does it is not known.
constexpr const char* kTable = R"(
struct entry { char *key; void *value; struct entry *next; };
struct table {
  unsigned (*hash)(const void *);
  int (*equal)(const void *, const void *, int);
  void (*destroy)(void *);
  struct entry *first;
};
static unsigned hash_text(const void *key) {
  unsigned sum = 0;
  for (const char *at = key; *at; ++at) sum = sum * 33 + (unsigned char)*at;
  return sum;
}
static unsigned hash_pointed(const void *key) { return *(const unsigned *)key + strlen(key); }
static int equal_text(const void *a, const void *b, int fold) {
  return fold ? strcasecmp(a, b) == 0 : strcmp(a, b) == 0;
}
struct table *make(int texts) {
  struct table *made = calloc(1, sizeof *made);
  if (!made) abort();
  made->hash = texts ? hash_text : hash_pointed;
  made->equal = equal_text;
  made->destroy = free;
  return made;
}
)";

TEST(Bystanders, WhatIsOnlyLookedAtStays) {
  expect_by_name(std::string(kHeader) + "#include <strings.h>\n" + kTable + R"(
unsigned hashed_bad(struct table *table, const char *name) {
  char *copy = strdup(name);
  return table->hash(copy);
}
unsigned hashed_ok(struct table *table, const char *name) {
  char *copy = strdup(name);
  unsigned out = table->hash(copy);
  free(copy);
  return out;
}
int compared_bad(struct table *table, const char *name) {
  char *copy = strdup(name);
  if (table->equal(copy, "none", 1)) return -1;
  table->destroy(copy);
  return 0;
}
int compared_ok(struct table *table, const char *name) {
  char *copy = strdup(name);
  int same = table->equal(copy, "none", 1);
  table->destroy(copy);
  return same;
}
)");
}

// A length that was found by subtracting addresses is no address.
TEST(Bystanders, DifferencesOfAddressesAreNumbers) {
  expect_by_name(std::string(kHeader) + R"(
struct span { long first; long length; };
void take(struct span *span);
void length_bad(const char *text) {
  char *copy = strdup(text);
  char *end = copy + strlen(copy);
  struct span span = {0, end - copy};
  take(&span);
}
void length_ok(const char *text) {
  char *copy = strdup(text);
  char *end = copy + strlen(copy);
  struct span span = {0, end - copy};
  take(&span);
  free(copy);
}
void address_ok(const char *text) {
  char *copy = strdup(text);
  struct span span = {(long)copy, 1};
  take(&span);
}
)");
}

// One that keeps, frees, changes or returns what it is given is enough.
TEST(Bystanders, OneThatTouchesSpoilsTheType) {
  expect_by_name(std::string(kHeader) + R"(
struct node { struct node *next; char *text; };
static struct node *all;
static long keeps(struct node *node, int x) { all = node; return x; }
static long looks(struct node *node, int x) { return node->text[x]; }
static short frees_below(struct node *node, short x) { free(node->text); return x; }
static short looks_below(struct node *node, short x) { return node->text[x]; }
static char *returns(char *text, long from) { return text + from; }
static void *by_way(char *text, void *x, int *y) { char **p = x; *p = text; return *y ? x : 0; }
struct table { long (*a)(struct node *, int); short (*b)(struct node *, short);
               char *(*c)(char *, long); void *(*d)(char *, void *, int *); };
struct table tables[] = {{keeps, frees_below, returns, by_way}, {looks, looks_below}};
long kept_ok(struct table *table) {
  struct node *node = calloc(1, sizeof *node);
  return table->a(node, 1);
}
short freed_below_ok(struct table *table) {
  struct node node = {0, malloc(10)};
  return table->b(&node, 1);
}
char returned_ok(struct table *table) {
  char *made = table->c(strdup("a"), 1);
  char out = *made;
  free(made - 1);
  return out;
}
void *stored_ok(struct table *table, void *where, int *y) {
  return table->d(strdup("a"), where, y);
}
)");
}

// What a library's users pass to it nobody has seen; a program has all of it.
constexpr const char* kVisit = R"(
struct visitor { void (*see)(void *); };
static void print(void *text) { puts(text); }
struct visitor *printer(void) {
  struct visitor *made = calloc(1, sizeof *made);
  if (made) made->see = print;
  return made;
}
void visited_bad(struct visitor *visitor, const char *name) {
  char *copy = strdup(name);
  visitor->see(copy);
}
)";

TEST(Bystanders, OfALibraryKnowNothingOfWhatItsUsersPass) {
  const std::string text = std::string(kHeader) + "#include <stdio.h>\n" + kVisit;
  EXPECT_EQ(finders(check_source(text)), Names{});
  EXPECT_EQ(finders(check_source(text + "int main(void) { printer(); return 0; }\n")),
            (Names{"visited_bad", "main"}));
}

// A part of an address is as good as any number.
TEST(Bystanders, AddressesThatAreHashed) {
  expect_by_name(std::string(kHeader) + R"(
typedef unsigned (*hasher)(const void *);
static unsigned hash_address(const void *key) { return (unsigned)(unsigned long)key; }
static unsigned hash_number(const void *key) { return *(const unsigned *)key; }
struct table { hasher hash; };
void make(struct table *table, int numbers) { table->hash = numbers ? hash_number : hash_address; }
unsigned hashed_bad(struct table *table) {
  int *key = malloc(sizeof *key);
  *key = 3;
  return table->hash(key);
}
unsigned hashed_ok(struct table *table) {
  int *key = malloc(sizeof *key);
  *key = 3;
  unsigned out = table->hash(key);
  free(key);
  return out;
}
typedef unsigned long (*keeper)(const void *);
static unsigned long whole(const void *key) { return (unsigned long)key; }
struct keepers { keeper keep; };
void make_keeper(struct keepers *k) { k->keep = whole; }
unsigned long kept_ok(struct keepers *k) {
  int *key = malloc(sizeof *key);
  *key = 3;
  return k->keep(key);
}
)");
}

}  // namespace
}  // namespace plumb::check
