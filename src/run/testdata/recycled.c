// A block is freed and its memory used again by one that is never filled: the
// word in it still refers to a block of 72 bytes, which is lost. realloc keeps
// what was there, and what the usable size let the program add.
#include <malloc.h>

#include "leak.h"

static void **volatile kept;
static char *volatile grown;

static __attribute__((noinline)) void work(void) {
  void **first = make(200);
  first[10] = make(72);
  if (kClean) free(first[10]);
  free(first);
  first = NULL;
  kept = make(200);  // not filled
}

int main(void) {
  work();
  scrub();
  char *text = make(20);
  const size_t usable = malloc_usable_size(text);
  memset(text, 'x', usable);
  grown = realloc(text, 500);
  for (size_t i = 0; i < usable; ++i) {
    if (grown[i] != 'x') return 1;
  }
  char *more = make(30);
  memset(more, 'y', 30);
  more = realloc(more, 3000);
  for (int i = 0; i < 30; ++i) {
    if (more[i] != 'y') return 1;
  }
  free(more);
  more = NULL;
  return 0;
}
