// What is known of values: contents that the library fills, products, sizes, walks.

#include "check/source_check.h"

namespace plumb::check {
namespace {

// A system call fills the structure that it is given, not those around it.
TEST(KnownValues, WhatStatFillsIsKnown) {
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

TEST(KnownValues, AProductSaysSomethingOfItsFactors) {
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

TEST(KnownValues, NoSizeIsBeyondMemory) {
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

TEST(KnownValues, AWalkAlongAStringStaysInIt) {
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

TEST(KnownValues, WhatWasAccessedWasNoNull) {
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

TEST(KnownValues, ALengthIsNotNegative) {
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

// A text of the source is not empty, and a table of numbers is not all zero.
TEST(KnownValues, TextsAndTablesHaveWhatTheSourceSays) {
  expect_by_name(R"(
#include <stdlib.h>
static const int kSizes[] = {8, 16, 32};
static const double kFactor = 1.5;
static int begins(const char *text) { return *text ? 1 : 0; }
static int second(const char *text) { return text[1] == 'b'; }
static int size_of(int at) { return at == 1 ? kSizes[1] : 0; }
int text_bad(void) { char *p = malloc(9); if (!p) return 0; if (begins(".")) return 1; free(p); return 0; }
int text_ok(void) { char *p = malloc(9); if (!p) return 0; if (!begins(".")) return 1; free(p); return 0; }
int empty_bad(void) { char *p = malloc(9); if (!p) return 0; if (!begins("")) return 1; free(p); return 0; }
int empty_ok(void) { char *p = malloc(9); if (!p) return 0; if (begins("")) return 1; free(p); return 0; }
int later_bad(void) { char *p = malloc(9); if (!p) return 0; if (second("abc")) return 1; free(p); return 0; }
int table_bad(void) { char *p = malloc(9); if (!p) return 0; if (size_of(1)) return 1; free(p); return 0; }
int factor_bad(void) { char *p = malloc(9); if (!p) return 0; if (kFactor > 1) return 1; free(p); return 0; }
int factor_ok(void) { char *p = malloc(9); if (!p) return 0; if (kFactor > 1) { free(p); return 1; } free(p); return 0; }
)");
}

// No address in a block that was made here is one that the function was given.
TEST(KnownValues, AddressesInBlocksAreNowhereElse) {
  expect_by_name(kHeader + std::string(R"(
struct list { char *data; struct list *next; };
int headers_ok(struct list *headers) {
  int n = 0;
  while (headers) {
    char *copy = NULL;
    char *at = strchr(headers->data, ':');
    if (!at) {
      at = strchr(headers->data, ';');
      if (at) {
        copy = strdup(headers->data);
        if (!copy) return -1;
        copy[at - headers->data] = ':';
        at = &copy[at - headers->data];
      }
    }
    if (at && at != headers->data) {
      n += at[1];
      free(copy);
    }
    headers = headers->next;
  }
  return n;
}
int headers_bad(struct list *headers) {
  int n = 0;
  while (headers) {
    char *copy = NULL;
    char *at = strchr(headers->data, ':');
    if (!at) {
      at = strchr(headers->data, ';');
      if (at) {
        copy = strdup(headers->data);
        if (!copy) return -1;
        copy[at - headers->data] = ':';
      }
    }
    if (at && at != headers->data) {
      n += at[1];
      free(copy);
    }
    headers = headers->next;
  }
  return n;
}
)"));
}

}  // namespace
}  // namespace plumb::check
