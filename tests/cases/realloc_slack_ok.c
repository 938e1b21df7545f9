// CASE: A block that grows and is freed, after an array that was freed with its elements.
// EXPECT: none
#include "case.h"

static void free_three(void) {
  char** all = malloc(3 * sizeof *all);
  for (long i = 0; i < opaque(3); i++) {
    all[i] = malloc(269);
    touch(all[i]);
  }
  for (long i = 0; i < opaque(3); i++) free(all[i]);
  free(all);
}

static void grow(void) {
  char* text = malloc(opaque(1));
  text = realloc(text, 170);
  text[0] = 'r';
  touch(text);
  free(text);
}

int main(void) {
  free_three();
  grow();
}
