// Four sites: a list that grows and is never looked at again (with -DCLEAN it
// is emptied now and then, with -DTIDY at the end), a cache whose entries are used rarely but all of
// them, a table that is filled at the start and not used, and short-lived
// blocks. Lives for as many steps as its argument says.
#include "steps.h"

enum { kCache = 400, kTable = 400, kSize = 500 };

struct entry {
  struct entry *next;
  char text[kSize - sizeof(void *)];
};
struct entry *list;
char *cache[kCache];
char *table[kTable];

static __attribute__((noinline)) void grow_list(void) {
  struct entry *entry = malloc(sizeof *entry);
  memset(entry->text, 1, sizeof entry->text);
  entry->next = list;
  list = entry;
}
static __attribute__((noinline)) void empty_list(void) {
  while (list != NULL) {
    struct entry *next = list->next;
    free(list);
    list = next;
  }
}
static __attribute__((noinline)) void fill_cache(void) {
  for (int i = 0; i < kCache; ++i) cache[i] = memset(malloc(kSize), 2, kSize);
}
static __attribute__((noinline)) void fill_table(void) {
  for (int i = 0; i < kTable; ++i) table[i] = memset(malloc(kSize), 3, kSize);
}
static __attribute__((noinline)) void work(void) {
  for (int i = 0; i < 200; ++i) {
    char *volatile block = malloc(100);
    block[0] = 1;
    free(block);
  }
}

int main(int count, char **arguments) {
  const int steps = count > 1 ? atoi(arguments[1]) : 100;
  fill_table();
  fill_cache();
  int part = 0;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 100; ++i) grow_list();
#ifdef CLEAN
    empty_list();
#endif
    for (int i = 0; i < 10; ++i) work();
    // An eighth of the cache at a time: each entry rests for long.
    if (step % (1 + steps / 32) == 0) {
      for (int i = part; i < kCache; i += 8) cache[i][7]++;
      part = (part + 1) % 8;
    }
    end_step(0.006);
  }
#ifdef TIDY
  empty_list();
  for (int i = 0; i < kCache; ++i) free(cache[i]);
  for (int i = 0; i < kTable; ++i) free(table[i]);
#endif
  printf("done\n");
  return 3;
}
