// CASE: A block of no bytes is a block all the same.
// EXPECT: lost 1 block 0 bytes
// CAUSE: scope-end
// GAP(run): use - nothing can access a block of no bytes
// GAP(run, -O2): holder - the debug information has no variable there
#include "case.h"

static int make(long size) {
  char* empty = malloc((size_t)size);   // ALLOC
  return opaque((intptr_t)empty) == 0;  // USE; LOSS empty
}  // LOSS empty

int main(void) { return make(opaque(0)); }
