// CASE: Only the end of a block is remembered; then it goes, too.
// EXPECT: lost 1 block 80 bytes
// CAUSE: overwritten
// GAP(run, -O2): holder - another variable had the last copy
// GAP(run, -O2): cause, function, place - the optimiser left only a register, which ends with its last use
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

long* g_end;

static void open_range(void) {
  long* range = malloc(80);  // ALLOC
  range[0] = 1;
  touch(range);  // USE
  g_end = range + 10;
}

static void close_range(void) {
  g_end = NULL;  // LOSS g_end
}

int main(void) {
  open_range();
  const int was_open = g_end != NULL;
  close_range();
  return !was_open;
}
