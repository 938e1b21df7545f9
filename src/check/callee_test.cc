// What a call says: the meaning of a status, globals whose address is given away,
// containers that do not take what they are given.
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

// The functions in which something is lost.
std::set<std::string> losers(const std::string& source) {
  const std::filesystem::path here(PLUMB_TEST_DATA);
  const Result<std::string> models =
      read_file((here / "../../../models/c.models").lexically_normal().string());
  EXPECT_TRUE(models);
  const std::string path = fmt::format("{}/plumb_callee_test.{}.c", testing::TempDir(), getpid());
  EXPECT_TRUE(write_file(path, source));
  CheckOptions options;
  options.jobs.push_back({"", path, {path}});
  options.models = {models.value_or(""), "models/c.models"};
  const Result<CheckOutcome> outcome = check_program(options);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message());
  std::set<std::string> out;
  if (!outcome) return out;
  for (const Leak& leak : outcome->report.leaks) {
    out.insert(leak.loss->stack.front().function);
  }
  return out;
}

using Names = std::set<std::string>;

// An error that is passed on is null for null: the block comes only when there is none.
// (Functions with variable arguments are known by their summaries alone.)
TEST(Callee, WhatItIsGivenSaysWhatItReturns) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
#include <string.h>
struct err { int code; struct err *next; };
struct parse { int n; char *tag; };
extern int known(const char *);
struct err *raise_(int c) { struct err *e = calloc(1, sizeof *e); e->code = c; return e; }
struct err *pass(struct err *e) {
  struct err *n;
  if (e == NULL) return e;
  n = calloc(1, sizeof *n);
  n->next = e;
  return n;
}
void err_free(struct err *e) { if (e == NULL) return; if (e->next) err_free(e->next); free(e); }
static struct err *init_internal(struct parse **out, const char *tag, ...) {
  struct parse *p = calloc(1, sizeof *p);
  if (p == NULL) return raise_(1);
  p->n = known(tag);
  if (p->n == 0) { free(p); return raise_(2); }
  if (p->n == 7) { free(p); return pass(raise_(2)); }
  *out = p;
  return NULL;
}
struct err *init(struct parse **out, const char *tag, ...) { return pass(init_internal(out, tag)); }
int use_ok(const char *tag) {
  struct parse *p;
  struct err *e = init(&p, tag);
  if (e) { err_free(e); return -1; }
  free(p);
  return 0;
}
static struct err *half(struct parse **out, const char *tag, ...) {
  struct parse *p = calloc(1, sizeof *p);
  if (p == NULL) return raise_(1);
  *out = p;
  if (known(tag) == 0) return raise_(2);
  return NULL;
}
struct err *make_half(struct parse **out, const char *tag, ...) { return pass(half(out, tag)); }
int use_bad(const char *tag) {
  struct parse *p;
  struct err *e = make_half(&p, tag);
  if (e) { err_free(e); return -1; }
  free(p);
  return 0;
}
)"),
            (Names{"use_bad"}));
}

// A walk that ends at a mark forgets what told the mark from the block: that the block is
// dropped, not freed, is no more than a guess. Not so when the caller asks for it.
TEST(Callee, FreesWhatItMayOnlySeemToDrop) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
struct err { int code; struct err *next; };
#define INTERNAL ((struct err *)1)
static int use_list = 0;
static struct err *free_list;
static struct err *raise_(int c) {
  struct err *e = calloc(1, sizeof *e);
  if (e == NULL) return INTERNAL;
  e->code = c;
  return e;
}
static int err_free(struct err *e) {
  if (e == NULL || e == INTERNAL) return 0;
  if (e->next != NULL) err_free(e->next);
  if (use_list) { e->next = free_list; free_list = e; } else free(e);
  return 0;
}
int handle(struct err **err, int t, ...) {
  struct err *w = *err;
  while (w != NULL && w != INTERNAL) {
    if (w->code == t) {
      err_free(*err);
      *err = NULL;
      return 1;
    }
    w = w->next;
  }
  if (w == NULL && t == 0) return 1;
  if (w == NULL) return 0;
  if (w == INTERNAL && t == 1) { *err = NULL; return 1; }
  return 0;
}
int work_ok(int c) {
  struct err *e = raise_(c);
  if (handle(&e, 3)) return 1;
  err_free(e);
  return 0;
}
int handle_dropping(struct err **err, int t, int keep, ...) {
  if (keep) { *err = NULL; return 1; }
  if ((*err)->code == t) { err_free(*err); *err = NULL; return 1; }
  return 0;
}
int work_bad(int c) {
  struct err *e = raise_(c);
  if (handle_dropping(&e, 3, 1)) return 1;
  err_free(e);
  return 0;
}
)"),
            (Names{"work_bad"}));
}

// The kind of error to handle is a number that is made when the program starts. A caller
// that knows it is another matter.
TEST(Callee, WhatAGlobalHoldsIsNotGuessed) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
struct err { int code; struct err *next; };
int not_found;
void start(int *kinds) { not_found = kinds[3]; }
static struct err *raise_(int c) {
  struct err *e = calloc(1, sizeof *e);
  e->code = c;
  return e;
}
static int handle(struct err **err, int kind, ...) {
  if (kind == 0) return 1;
  free(*err);
  *err = NULL;
  return 1;
}
int find_ok(int c) {
  struct err *e = raise_(c);
  return handle(&e, not_found);
}
int find_bad(int c) {
  struct err *e = raise_(c);
  if (not_found == 0) return handle(&e, not_found);
  free(e);
  return 0;
}
)"),
            (Names{"find_bad"}));
}

// error() ends the program when its status is not zero, and comes back when it is.
TEST(Callee, AStatusEndsTheProgram) {
  EXPECT_EQ(losers(R"(
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
char *read_ok(const char *name) {
  char *buf = malloc(100);
  FILE *f = fopen(name, "r");
  if (!f) {
    error(1, errno, "cannot open %s", name);
    return NULL;
  }
  fclose(f);
  return buf;
}
char *read_bad(const char *name) {
  char *buf = malloc(100);
  FILE *f = fopen(name, "r");
  if (!f) {
    error(0, errno, "cannot open %s", name);
    return NULL;
  }
  fclose(f);
  return buf;
}
)"),
            (Names{"read_bad"}));
}

// A set is empty or has a block; null comes back for an empty one only.
TEST(Callee, WhatItReturnsSaysWhatItWasGiven) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
struct set { long count; long *items; };
struct table { int **rows; };
static int copy(struct set *to, const struct set *from) {
  to->count = from->count;
  if (from->count > 0) {
    to->items = malloc(from->count * sizeof(long));
    if (!to->items) { to->count = 0; return 12; }
  } else {
    to->items = NULL;
  }
  return 0;
}
static int *find(const struct table *table, const struct set *set) {
  if (set->count == 0) return NULL;
  for (int i = 0; i < 4; i++) {
    int *row = table->rows[i];
    if (*row == 3) return row;
  }
  return table->rows[4] ? table->rows[4] : table->rows[5];
}
static int *find_any(const struct table *table, const struct set *set) {
  if (set->count == 0) return NULL;
  int *row = table->rows[0];
  return *row == 3 ? row : table->rows[1];
}
static int *find_first(const struct table *table, const struct set *set) {
  if (set->count == 0) return NULL;
  for (int i = 0; i < 4; i++) {
    int *row = table->rows[i];
    if (*row == 3) return row;
  }
  abort();
}
int any_bad(struct table *table, const struct set *from, int **out) {
  struct set own;
  if (copy(&own, from) != 0) return 12;
  *out = find_any(table, &own);
  if (*out == NULL) return 1;
  free(own.items);
  return 0;
}
int first_ok(struct table *table, const struct set *from, int **out) {
  struct set own;
  if (copy(&own, from) != 0) return 12;
  *out = find_first(table, &own);
  if (*out == NULL) return 1;
  free(own.items);
  return 0;
}
)"),
            (Names{"any_bad"}));
}

TEST(Callee, AnOrderThatTheCallerKnows) {
  EXPECT_EQ(losers(R"(
#include <stdbool.h>
#include <stdlib.h>
extern long done;
extern void say(const char *text);
static bool copy_till(long line) {
  if (done > line) {
    say("misordered");
    return false;
  }
  done = line;
  return true;
}
bool ok(long where) {
  char *old = malloc(16);
  if (done < where)
    if (!copy_till(where)) return false;
  free(old);
  return true;
}
bool bad(long where) {
  char *old = malloc(16);
  if (!copy_till(where)) return false;
  free(old);
  return true;
}
)"),
            (Names{"bad"}));
}

// Elements of a constant number, by an index without a sign.
TEST(Callee, ALoopThatCountsWithoutASign) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
#include <string.h>
enum side { OLD, NEW };
static char *names[2];
void ok(int n, const char *text) {
  enum side i;
  while (n-- > 0) {
    for (i = OLD; i <= NEW; i++) {
      free(names[i]);
      names[i] = 0;
    }
    names[OLD] = strdup(text);
    names[NEW] = strdup(text);
  }
}
void bad(int n, const char *text) {
  while (n-- > 0) {
    free(names[OLD]);
    names[OLD] = strdup(text);
    names[NEW] = strdup(text);
  }
}
)"),
            (Names{"bad"}));
}

// The callees see a parameter, the caller knows that it is a global.
TEST(Callee, ThatIsGivenTheAddressOfAGlobal) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
struct node { struct node *next; char *text; };
struct list { struct node *first; struct node *last; char *spare; };
static struct list all;
static void add(struct list *list) {
  struct node *node = calloc(1, sizeof *node);
  node->text = malloc(8);
  if (list->last) list->last->next = node; else list->first = node;
  list->last = node;
  list->spare = node->text;
}
static void clear(struct list *list) {
  struct node *next;
  for (struct node *node = list->first; node; node = next) {
    next = node->next;
    free(node->text);
    free(node);
  }
  list->first = list->last = NULL;
  list->spare = NULL;
}
static void clear_all(void) { clear(&all); }
void ok(void) {
  add(&all);
  clear_all();
}
void bad(void) {
  struct list mine = {0};
  mine.spare = malloc(8);
  clear(&mine);
}
)"),
            (Names{"bad"}));
}

// The key is there already, or the table was never made.
TEST(Callee, AContainerThatDoesNotTakeEverything) {
  EXPECT_EQ(losers(R"(
#include <stdlib.h>
struct node { struct node *left, *right; int key; void *data; };
static struct node *table;
struct bag { void *one; };
extern struct node *splay(struct node *tree, int key);
static struct node *insert(struct node *tree, int key, void *data) {
  if (tree) {
    tree = splay(tree, key);
    if (tree->key == key) return tree;
  }
  struct node *node = malloc(sizeof *node);
  node->left = tree;
  node->right = NULL;
  node->key = key;
  node->data = data;
  return node;
}
static int put(struct bag *bag, void *data) {
  if (bag->one) return -1;
  bag->one = data;
  return 0;
}
static void put_text(struct bag *bag, char *text) {
  if (text[0] == '.') return;
  bag->one = text;
}
extern void fill(char *text);
void insert_ok(int key) {
  char *data = malloc(8);
  table = insert(table, key, data);
}
int put_bad(struct bag *bag) {
  char *data = malloc(8);
  if (put(bag, data) < 0) return -1;
  return 0;
}
void put_text_bad(struct bag *bag) {
  char *text = malloc(8);
  text[0] = bag->one ? '.' : 'a';
  put_text(bag, text);
}
)"),
            (Names{"put_bad", "put_text_bad"}));
}

// More inputs than a summary lists: what hangs on the arguments is given up, nothing else.
TEST(Callee, OneThatTouchesALotKeepsWhatItIsGiven) {
  constexpr int kFields = 40;
  std::string fields;
  std::string takes;
  for (int i = 0; i < kFields; ++i) {
    fields += fmt::format("char *f{}; ", i);
    takes += fmt::format("keep(s->f{}); ", i);
  }
  EXPECT_EQ(losers(fmt::format(R"(
#include <stdlib.h>
struct many {{ {} }};
void keep(char *p);
static void take_all(struct many *s) {{ {} }}
void last_field_ok(struct many *s) {{
  struct many t = {{0}};
  t.f{} = malloc(8);
  take_all(&t);
}}
void beside_bad(struct many *s) {{
  char *p = malloc(8);
  p[0] = 1;
  take_all(s);
}}
)",
                               fields, takes, kFields - 1)),
            (Names{"beside_bad"}));
}

}  // namespace
}  // namespace plumb::check
