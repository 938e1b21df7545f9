// Four sites: a list that grows and is never looked at again (with -DCLEAN it
// is emptied now and then), a cache whose entries are used rarely but all of
// them, a table that is filled at the start and not used, and short-lived
// blocks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kCache = 400, kTable = 400, kSize = 500 };

struct entry {
  struct entry *next;
  char text[kSize - sizeof(void *)];
};
static struct entry *list;
static char *cache[kCache];
static char *table[kTable];

static double cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

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
  const double seconds = count > 1 ? atof(arguments[1]) : 1;
  fill_table();
  fill_cache();
  double next_look = 0;
  int part = 0;
  for (double now = cpu(); now < seconds; now = cpu()) {
    for (int i = 0; i < 4; ++i) grow_list();
#ifdef CLEAN
    empty_list();
#endif
    work();
    // An eighth of the cache at a time: each entry rests for long.
    if (now > next_look) {
      next_look = now + seconds / 32;
      for (int i = part; i < kCache; i += 8) cache[i][7]++;
      part = (part + 1) % 8;
    }
  }
  printf("done\n");
  return 3;
}
