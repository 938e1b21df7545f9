// CASE: The result of realloc is tried before it replaces the old pointer.
// EXPECT: none
#include "case.h"

static int grow(long wanted) {
  char* data = malloc(100);
  data[0] = 1;
  touch(data);
  char* larger = realloc(data, (size_t)1 << wanted);
  if (!larger) {
    free(data);
    return -1;
  }
  free(larger);
  return 0;
}

int main(void) { return grow(opaque(60)) == -1 ? 0 : 1; }
