// Where a block is held: arrays, buffers, globals, threads, and clean-ups that several ways share.

#include "check/source_check.h"

namespace plumb::check {
namespace {

TEST(Holders, ACleanupGoesOnWhereItWasSentTo) {
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

TEST(Holders, ACleanupThatSeveralWaysShareGoesOnWhereEachCameFrom) {
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

TEST(Holders, BuffersThatTheLibraryFills) {
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

TEST(Holders, ElementsOfAnArrayThatGrows) {
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

TEST(Holders, AWrapperOfReallocMovesWhatTheBlockHeld) {
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

TEST(Holders, AGlobalThatIsOverwritten) {
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

TEST(Holders, AThreadFreesWhatItsFunctionFrees) {
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

// A thread does what its function does: its out parameter and its result are followed.
TEST(Holders, AThreadHandsOutBlocks) {
  expect_by_name("#include <pthread.h>\n" + (kHeader + std::string(R"(
struct job { int in; char *out; };
static void *fill(void *p) { *(char **)p = malloc(9); return 0; }
static void *work(void *p) { struct job *j = p; j->out = malloc(j->in); return 0; }
static void *make(void *p) { return malloc(*(int *)p); }
static void *serve(void *p) { struct job *j = p; free(j->out); j->out = 0; return 0; }
void out_bad(void) {
  pthread_t t;
  char *p = 0;
  pthread_create(&t, 0, fill, &p);
  pthread_join(t, 0);
}
void out_ok(void) {
  pthread_t t;
  char *p = 0;
  pthread_create(&t, 0, fill, &p);
  pthread_join(t, 0);
  free(p);
}
void member_bad(int n) {
  pthread_t t;
  struct job j = {n, 0};
  if (pthread_create(&t, 0, work, &j) != 0) return;
  pthread_join(t, 0);
  if (n > 9) return;
  free(j.out);
}
void member_ok(int n) {
  pthread_t t;
  struct job j = {n, 0};
  if (pthread_create(&t, 0, work, &j) != 0) return;
  pthread_join(t, 0);
  free(j.out);
}
void result_bad(int n) {
  pthread_t t;
  void *made;
  pthread_create(&t, 0, make, &n);
  pthread_join(t, &made);
}
void result_ok(int n) {
  pthread_t t;
  void *made;
  pthread_create(&t, 0, make, &n);
  pthread_join(t, &made);
  free(made);
}
void dropped_bad(int n) {
  pthread_t t;
  pthread_create(&t, 0, make, &n);
  pthread_join(t, 0);
}
void later_ok(void) {  // the thread may take what is put there after its start
  pthread_t t;
  struct job j = {1, 0};
  pthread_create(&t, 0, serve, &j);
  j.out = malloc(9);
  pthread_join(t, 0);
}
)")));
}

// A setter puts what it is given in a global: it is followed there, unless something
// may take it out.
TEST(Holders, ASetterOfAGlobal) {
  expect_by_name(kHeader + std::string(R"(
char *g_name, *g_kept, *g_shown, *g_slots[4], *g_list[4];
int g_count;
extern void unknown(void);
static void set(char *name) { g_name = name; }
static void replace(char *name) { free(g_kept); g_kept = name; }
static void put(int at, char *what) { g_slots[at] = what; }
static char *take(void) { char *out = g_shown; g_shown = 0; return out; }
static void show(char *what) { g_shown = what; }
static void add(char *what) { g_list[g_count++] = what; }
void twice_bad(void) { set(strdup("a")); set(strdup("b")); }
void reset_bad(void) { set(strdup("a")); g_name = 0; }
void once_ok(void) { set(strdup("a")); }
void freed_ok(void) { set(strdup("a")); free(g_name); set(strdup("b")); }
void seen_ok(void) { set(strdup("a")); unknown(); set(strdup("b")); }
void replace_ok(void) { replace(strdup("a")); replace(strdup("b")); }
void slot_bad(void) { put(2, strdup("a")); put(2, strdup("b")); }
void slots_ok(void) { put(2, strdup("a")); put(3, strdup("b")); }
void any_ok(int i, int j) { put(i, strdup("a")); put(j, strdup("b")); }
void each_ok(void) { for (int i = 0; i < 4; i++) put(i, strdup("a")); }
void taken_ok(void) { show(strdup("a")); free(take()); show(strdup("b")); }
void list_ok(void) { add(strdup("a")); add(strdup("b")); }
)"));
}

// The block that a counted loop made last is the one that is handed out.
TEST(Holders, AListOfKnownLength) {
  expect_by_name(kHeader + std::string(R"(
struct node { struct node *next; char *text; };
static struct node *make(int text) {
  struct node *head = 0;
  for (int i = 0; i < 5; i++) {
    struct node *n = calloc(1, sizeof *n);
    if (text) n->text = malloc(9);
    n->next = head;
    head = n;
  }
  return head;
}
static void drop(struct node *n) {
  while (n) {
    struct node *next = n->next;
    free(n->text);
    free(n);
    n = next;
  }
}
void list_bad(void) { make(0); }
void list_ok(void) { drop(make(0)); }
void texts_bad(void) { struct node *n = make(1); n->text[0] = 1; }
void texts_ok(void) { struct node *n = make(1); n->text[0] = 1; drop(n); }
)"));
}

// With --globals: what stays in a block that a global has, when that block alone is freed.
TEST(Holders, BelowAGlobal) {
  const Report report = check_source(kHeader + std::string(R"(
char **g_left, **g_freed, **g_handed, **g_walked, **g_both;
extern void unknown(char **);
void fill_left(void) { g_left = malloc(40); for (int i = 0; i < 5; i++) g_left[i] = malloc(9); }
void drop_left(void) { free(g_left); g_left = 0; }
void fill_freed(void) { g_freed = malloc(40); for (int i = 0; i < 5; i++) g_freed[i] = malloc(9); }
void drop_freed(void) { for (int i = 0; i < 5; i++) free(g_freed[i]); free(g_freed); }
void fill_handed(void) { g_handed = malloc(40); g_handed[0] = malloc(9); }
void hand(void) { unknown(g_handed); }
void fill_both(void) { g_both = malloc(40); for (int i = 0; i < 5; i++) g_both[i] = malloc(9); }
void use_both(void) { fill_both(); for (int i = 0; i < 5; i++) free(g_both[i]); free(g_both); }
void fill_walked(void) { g_walked = calloc(5, 8); g_walked[0] = malloc(9); }
void drop_walked(void) { for (char **p = g_walked; *p; p++) free(*p); free(g_walked); }
)"),
                                     "c", [](CheckOptions& options) { options.globals = true; });
  EXPECT_EQ(finders(report), Names{"fill_left"});
}

// Each round of the loop makes another one of them, and none holds the block.
TEST(Holders, PointersIntoTheBlockItself) {
  expect_by_name(std::string(kHeader) + R"(
struct options { int count; char *of[256]; char level[64]; };
static struct options *make(const char *flags) {
  struct options *made = calloc(1, sizeof *made);
  if (!made) return 0;
  for (int i = 0; i < (int)strlen(flags); i++) made->of[(int)flags[i]] = made->level;
  for (int i = 128; flags[i - 128]; i++) made->of[i] = made->level;
  return made;
}
int parse_bad(const char *flags, int count) {
  struct options *made = make(flags);
  if (!made) return -1;
  if (count == 3) return 1;
  free(made);
  return 0;
}
int parse_ok(const char *flags) {
  struct options *made = make(flags);
  if (!made) return -1;
  int count = made->of[3] != 0;
  free(made);
  return count;
}
)");
}

}  // namespace
}  // namespace plumb::check
