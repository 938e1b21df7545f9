// CASE: A local is overwritten by a second allocation.
// EXPECT: lost 1 block 16 bytes
// CAUSE: overwritten
#include "case.h"

static void reload(void) {
  char* text = malloc(16);  // ALLOC
  text[0] = 'a';
  touch(text);        // USE
  text = malloc(32);  // LOSS text
  text[0] = 'b';
  touch(text);
  free(text);
}

int main(void) { reload(); }
