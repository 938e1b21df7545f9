// CASE: Each round frees the last round's block first, and the function the last one.
// EXPECT: none
#include "case.h"

static void work(long rounds) {
  long* best = NULL;
  for (long i = 0; i < rounds; i++) {
    free(best);
    best = malloc(16);
    best[0] = i;
    touch(best);
  }
  free(best);
}

int main(void) { work(opaque(4)); }
