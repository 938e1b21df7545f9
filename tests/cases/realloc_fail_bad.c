// CASE: A failed realloc overwrites the only pointer to the old block.
// EXPECT: lost 1 block 100 bytes
// CAUSE: overwritten
#include "case.h"

static int grow(long wanted) {
  char* data = malloc(100);  // ALLOC
  data[0] = 1;
  touch(data);
  data = realloc(data, (size_t)1 << wanted);  // USE; LOSS data
  if (!data) return -1;
  free(data);
  return 0;
}

int main(void) { return grow(opaque(60)) == -1 ? 0 : 1; }
