// Tables that say that they did not take what they were given: what hangs on it is the
// caller's still.
#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kTable = R"(
#include <errno.h>
#include <stdlib.h>
#include <string.h>
struct entry { const char *key; const void *value; };
struct bucket { struct entry *entries; unsigned used, total; };
struct table { unsigned count, size; struct bucket buckets[]; };
static unsigned hash(const char *key) {
  unsigned out = 5381;
  while (*key) out = out * 33 + *key++;
  return out;
}
static int add_unique(struct table *t, const char *key, const void *value) {
  struct bucket *bucket = t->buckets + (hash(key) & (t->size - 1));
  if (bucket->used + 1 >= bucket->total) {
    struct entry *grown = realloc(bucket->entries, (bucket->total + 8) * sizeof *grown);
    if (!grown) return -ENOMEM;
    bucket->entries = grown;
    bucket->total += 8;
  }
  struct entry *entry = bucket->entries, *end = entry + bucket->used;
  for (; entry < end; entry++) {
    int order = strcmp(key, entry->key);
    if (order == 0) return -EEXIST;
    if (order < 0) {
      memmove(entry + 1, entry, (end - entry) * sizeof *entry);
      break;
    }
  }
  entry->key = key;
  entry->value = value;
  bucket->used++;
  t->count++;
  return 0;
}
struct module { char *path; char name[20]; };
)";

TEST(Refused, WhatHangsOnIt) {
  EXPECT_EQ(finders(check_source(std::string(kTable) + R"(
int add_bad(struct table *t, const char *path) {
  struct module *m = calloc(1, sizeof *m);
  if (!m) return -ENOMEM;
  m->path = strdup(path);
  if (!m->path) { free(m); return -ENOMEM; }
  int error = add_unique(t, m->name, m);
  if (error < 0) free(m);
  return error;
}
int add_ok(struct table *t, const char *path) {
  struct module *m = calloc(1, sizeof *m);
  if (!m) return -ENOMEM;
  m->path = strdup(path);
  if (!m->path) { free(m); return -ENOMEM; }
  int error = add_unique(t, m->name, m);
  if (error < 0) {
    free(m->path);
    free(m);
  }
  return error;
}
void add_unasked_ok(struct table *t, const char *path) {
  struct module *m = calloc(1, sizeof *m);
  if (!m) return;
  m->path = strdup(path);
  add_unique(t, m->name, m);
}
)")),
            Names{"add_bad"});
}

}  // namespace
}  // namespace plumb::check
