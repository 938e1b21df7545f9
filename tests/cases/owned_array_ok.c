// CASE: An array of owned strings is freed after the strings.
// EXPECT: none
#include "case.h"

static void fill(char** names, long count) {
  for (long i = 0; i < count; i++) {
    names[i] = malloc(8);
    names[i][0] = (char)('a' + i);
  }
}

static void list(long count) {
  char** names = malloc((size_t)count * sizeof *names);
  fill(names, count);
  for (long i = 0; i < count; i++) touch(names[i]);
  for (long i = 0; i < count; i++) free(names[i]);
  free(names);
}

int main(void) { list(opaque(3)); }
