// CASE: An early return leaves a buffer behind.
// EXPECT: lost 1 block 64 bytes
// CAUSE: scope-end
#include "case.h"

static int parse(long length) {
  char* line = malloc(64);  // ALLOC
  line[0] = 0;
  touch(line);                // USE
  if (length > 9) return -1;  // LOSS line
  free(line);
  return 0;
}

int main(void) { return parse(opaque(10)) == -1 ? 0 : 1; }
