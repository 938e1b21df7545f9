// CASE: Each round of a loop loses its block; only exit leaves the loop.
// EXPECT: lost 3 blocks 48 bytes
// CAUSE: scope-end
#include "case.h"

static int rounds = 0;

static char *next(void) {
  if (opaque(rounds++) == 3) return NULL;
  return malloc(16);  // ALLOC
}

int main(void) {
  for (;;) {
    char *text = next();
    if (text == NULL) exit(0);
    touch(text);  // USE
  }               // LOSS text
}
