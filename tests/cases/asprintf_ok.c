// CASE: A text made by asprintf is freed before the next one.
// EXPECT: none
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>

#include "case.h"

static int number_lines(void) {
  char* line = NULL;
  if (asprintf(&line, "line %ld", opaque(100)) < 0) return 1;
  touch(line);
  free(line);
  if (asprintf(&line, "line %ld", opaque(2)) < 0) return 1;
  touch(line);
  free(line);
  return 0;
}

int main(void) { return number_lines(); }
