// CASE: Both ways out of a function free its buffer.
// EXPECT: none
#include "case.h"

static int parse(long length) {
  char* line = malloc(64);
  line[0] = 0;
  touch(line);
  if (length > 9) {
    free(line);
    return -1;
  }
  free(line);
  return 0;
}

int main(void) { return parse(opaque(10)) == -1 ? 0 : 1; }
