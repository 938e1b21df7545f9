// CASE: A text made by asprintf is overwritten by the next one.
// EXPECT: lost 1 block 9 bytes
// CAUSE: overwritten
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>

#include "case.h"

static int number_lines(void) {
  char* line = NULL;
  if (asprintf(&line, "line %ld", opaque(100)) < 0) return 1;  // ALLOC
  touch(line);                                                 // USE
  if (asprintf(&line, "line %ld", opaque(2)) < 0) return 1;    // LOSS line
  touch(line);
  free(line);
  return 0;
}

int main(void) { return number_lines(); }
