// CASE: A local of main is still held when main returns.
// EXPECT: lost 1 block 56 bytes
// CAUSE: scope-end
#include "case.h"

int main(void) {
  char* state = malloc(56);  // ALLOC
  state[0] = 's';
  touch(state);  // USE
  return 0;      // LOSS state
}  // LOSS state
