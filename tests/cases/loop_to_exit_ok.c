// CASE: Each round of a loop frees its block; only exit leaves the loop.
// EXPECT: none
#include "case.h"

static int rounds = 0;

static char *next(void) {
  if (opaque(rounds++) == 3) return NULL;
  return malloc(16);
}

int main(void) {
  for (;;) {
    char *text = next();
    if (text == NULL) exit(0);
    touch(text);
    free(text);
  }
}
