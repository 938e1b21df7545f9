// CASE: Each level of a recursion frees its own block.
// EXPECT: none
#include "case.h"

static long descend(long depth) {
  long* frame = malloc(32);
  frame[0] = depth;
  if (depth > 1) descend(depth - 1);
  touch(frame);
  free(frame);
  return depth;
}

int main(void) { return descend(opaque(4)) == 4 ? 0 : 1; }
