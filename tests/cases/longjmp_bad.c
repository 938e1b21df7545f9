// CASE: A longjmp leaves the function that holds a block.
// EXPECT: lost 1 block 76 bytes
// CAUSE: scope-end
// GAP(cc): holder - finds the pointer in an abandoned frame, not the variable
// GAP(check): found - longjmp ends the path
#include <setjmp.h>

#include "case.h"

jmp_buf g_top;

static void check(long depth) {
  if (depth > 2) longjmp(g_top, 1);  // LOSS text
}

static void parse(long depth) {
  char* text = malloc(76);  // ALLOC
  text[0] = 'x';
  touch(text);   // USE
  check(depth);  // LOSS text
  free(text);
}

int main(void) {
  if (setjmp(g_top) == 0) parse(opaque(3));
}
