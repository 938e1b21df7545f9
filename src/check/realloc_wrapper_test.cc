// Functions that put another block in the place of the one that they are given, and null
// when they cannot; and what a callee puts where its caller could not follow it.
#include <string>

#include "check/source_check.h"

namespace plumb::check {
namespace {

constexpr const char* kAppend = R"(
#include <limits.h>
static char *append(char *text, const char *more, int length) {
  char *out;
  if (more == NULL || length == 0) return text;
  if (length < 0) return NULL;
  int size = (int)strlen(text);
  if (size > INT_MAX - length) return NULL;
  out = realloc(text, (size_t)size + length + 1);
  if (out == NULL) return text;
  memcpy(out + size, more, length);
  out[size + length] = 0;
  return out;
}
static char *append_all(char *text, const char *more) {
  const char *end = more;
  while (*end) ++end;
  return append(text, more, end - more);
}
static void append_to(char **text, const char *more) { *text = append_all(*text, more); }
)";

TEST(ReallocWrapper, ThatFailsIsFollowedWhereTheProgramLooks) {
  expect_by_name(std::string(kHeader) + kAppend + R"(
char *joined_ok(const char *a, const char *b) {
  char *text = strdup(a);
  text = append_all(text, ", ");
  text = append(text, b, (int)strlen(b));
  return text;
}
char *through_address_ok(const char *a, const char *b) {
  char *text = strdup(a);
  append_to(&text, b);
  return text;
}
int looked_at_bad(const char *a, const char *b, int n) {
  char *text = strdup(a);
  if (!text) return -1;
  text = append(text, b, n);
  if (text == NULL) return -1;
  puts(text);
  free(text);
  return 0;
}
int looked_at_ok(const char *a, const char *b, int n) {
  char *text = strdup(a);
  if (!text) return -1;
  char *longer = append(text, b, n);
  if (longer == NULL) {
    free(text);
    return -1;
  }
  puts(longer);
  free(longer);
  return 0;
}
void less_than_nothing_bad(const char *a, const char *b) {
  char *text = strdup(a);
  text = append(text, b, -1);
  if (text) puts(text);
  free(text);
}
void dropped_bad(const char *a, const char *b) {
  char *text = strdup(a);
  text = append_all(text, b);
  if (text) puts(text);
}
)");
}

// Too large to be put in the place of its calls: what its summary says decides. Lengths of
// texts fit in an int together, a number that anybody passes need not.
TEST(ReallocWrapper, OfALargeFunctionFailsWhereTheProgramLooks) {
  std::string large = std::string(kHeader) + R"(
#include <limits.h>
struct log { int level; int last[300]; };
static int length(const char *text) {
  size_t n = 0;
  if (!text) return 0;
  while (*text) { text++; n++; }
  return n > INT_MAX ? 0 : n;
}
static char *append(struct log *log, char *text, const char *more, int size) {
  if (more == NULL || size == 0) return text;
  if (size < 0) return NULL;
  if (text == NULL) {
    char *copy = malloc((size_t)size + 1);
    if (!copy) abort();
    memcpy(copy, more, size);
    copy[size] = 0;
    return copy;
  }
)";
  for (int i = 0; i < 130; ++i) {
    large += "  log->last[" + std::to_string(i) + "] = log->level;\n";
  }
  expect_by_name(large + R"(
  int have = length(text);
  if (have < 0 || have > INT_MAX - size) return NULL;
  char *out = realloc(text, (size_t)have + size + 1);
  if (out == NULL) return text;
  memcpy(out + have, more, size);
  out[have + size] = 0;
  return out;
}
static char *append_all(struct log *log, char *text, const char *more) {
  const char *end = more;
  if (more == NULL) return text;
  while (*end) ++end;
  return append(log, text, more, end - more);
}
char *joined_ok(struct log *log, const char *a, const char *b, int n) {
  char *text = strdup(a);
  for (int i = 0; i < n; i++) {
    if (log->level == i) text = append_all(log, text, ", ");
    text = append_all(log, text, b);
  }
  return text;
}
int looked_at_ok(struct log *log, const char *a, const char *b) {
  char *text = strdup(a);
  text = append_all(log, text, b);
  if (text == NULL) return -1;
  free(text);
  return 0;
}
int by_number_bad(struct log *log, const char *a, const char *b, int n) {
  char *text = strdup(a);
  text = append(log, text, b, n);
  if (text == NULL) return -1;
  free(text);
  return 0;
}
)");
}

TEST(ReallocWrapper, ListThatIsNotThereIsPresumedToBeThere) {
  expect_by_name(std::string(kHeader) + R"(
struct link { struct link *next; void *data; };
struct list { struct link *first; };
int push(struct list *list, void *data) {
  if (list == NULL) return 0;
  struct link *link = malloc(sizeof *link);
  if (!link) abort();
  link->data = data;
  link->next = list->first;
  list->first = link;
  return 1;
}
struct writer { struct list *nodes; int count; };
int begin_ok(struct writer *writer) {
  char *name = malloc(20);
  if (!name) return -1;
  push(writer->nodes, name);
  return writer->count;
}
int begin_bad(struct writer *writer) {
  char *name = malloc(20);
  if (!name) return -1;
  if (push(writer->nodes, name) == 0) return -1;
  return writer->count;
}
)");
}

TEST(ReallocWrapper, WhatIsInAnArgumentIsPresumedToBeTaken) {
  expect_by_name(std::string(kHeader) + R"(
struct item { char *name; char *text; int kind; };
static void overwrite(struct item *to, const struct item *from) {
  if (to == NULL) return;
  free(to->name);
  free(to->text);
  *to = *from;
}
int replace_ok(struct item *to, const char *name) {
  struct item *item = calloc(1, sizeof *item);
  if (!item) abort();
  item->name = strdup(name);
  overwrite(to, item);
  free(item);
  return 0;
}
static int take(struct item *to, const struct item *from) {
  if (to == NULL) return -1;
  *to = *from;
  return 0;
}
int replace_bad(struct item *to, const char *name) {
  if (to == NULL) puts(name);
  struct item *item = calloc(1, sizeof *item);
  if (!item) abort();
  item->name = strdup(name);
  int status = take(to, item);
  free(item);
  return status;
}
)");
}

TEST(ReallocWrapper, WhatACalleePutsOutOfSightIsNotLost) {
  expect_by_name(std::string(kHeader) + R"(
struct name { char text[16]; };
struct document { struct name *own; struct name *other; };
struct node { struct document *document; struct node *parent; int kind; };
static struct name *name_of(struct document *document) {
  if (document->own) return document->own;
  struct name *name = calloc(1, sizeof *name);
  if (!name) abort();
  document->own = name;
  return name;
}
struct name *search(struct document *document, struct node *node) {
  if (node->kind == 7) return search(document, node->parent);
  if (document == NULL) {
    document = node->document;
    if (document == NULL) return NULL;
  }
  return name_of(document);
}
int kind_ok(struct document *document, struct node *node) {
  struct name *name = search(document, node);
  return name != NULL ? node->kind : 0;
}
static struct name *copy_of(struct document *document) {
  struct name *name = malloc(sizeof *name);
  if (!name) abort();
  *name = *document->own;
  return name;
}
int copied_bad(struct node *node) {
  struct name *name = copy_of(node->document);
  return name->text[0];
}
)");
}

}  // namespace
}  // namespace plumb::check
