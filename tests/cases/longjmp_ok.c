// CASE: A longjmp leaves the function; who set it frees the block.
// EXPECT: none
#include <setjmp.h>

#include "case.h"

jmp_buf g_top;
char* g_text;

static void check(long depth) {
  if (depth > 2) longjmp(g_top, 1);
}

static void parse(long depth) {
  g_text = malloc(76);
  g_text[0] = 'x';
  touch(g_text);
  check(depth);
}

int main(void) {
  if (setjmp(g_top) == 0) parse(opaque(3));
  free(g_text);
}
