// CASE: Each level of a recursion loses its own block.
// EXPECT: lost 4 blocks 128 bytes
// CAUSE: scope-end
// GAP(run, -O2, gcc): cause - the debug information does not say when the variable ends
#include "case.h"

static long descend(long depth) {
  long* frame = malloc(32);  // ALLOC
  frame[0] = depth;
  if (depth > 1) descend(depth - 1);
  touch(frame);  // USE
  return depth;  // LOSS frame
}  // LOSS frame

int main(void) { return descend(opaque(4)) == 4 ? 0 : 1; }
