// CASE: A pointer that carries a flag in its lowest bit is overwritten.
// EXPECT: lost 1 block 32 bytes
// CAUSE: overwritten
// GAP(run, -O2): holder - another variable had the last copy
// GAP(run, -O2): cause, function, place - the optimiser left only a register, which ends with its last use
// GAP(check): found - what a global holds is not followed
#include "case.h"

uintptr_t g_tagged;

static void set_up(void) {
  long* node = malloc(32);  // ALLOC
  node[0] = 5;
  touch(node);  // USE
  g_tagged = (uintptr_t)node | 1;
}

static void reset(void) {
  g_tagged = 0;  // LOSS g_tagged
}

int main(void) {
  set_up();
  reset();
}
