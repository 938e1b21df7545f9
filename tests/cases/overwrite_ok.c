// CASE: A local is freed before it is overwritten.
// EXPECT: none
#include "case.h"

static void reload(void) {
  char* text = malloc(16);
  text[0] = 'a';
  touch(text);
  free(text);
  text = malloc(32);
  text[0] = 'b';
  touch(text);
  free(text);
}

int main(void) { reload(); }
