// CASE: Three levels; freeing the top loses the middle, and with it the bottom.
// EXPECT: lost 1 block 16 bytes, indirect 1 block 48 bytes
// CAUSE: holder-freed
// GAP(run, -O2, clang): holder - the debug information has no variable there
// GAP(run, -O2, clang): cause - the optimiser left only a register, which ends with its last use
#include "case.h"

struct Level {
  struct Level* below;
  void* data;
};

static void run(void) {
  struct Level* top = calloc(1, sizeof *top);
  top->below = calloc(1, sizeof *top);  // ALLOC
  top->below->data = malloc(48);        // ALLOC
  memset(top->below->data, 1, 48);
  touch(top->below);  // USE
  free(top);          // LOSS top->below
}

int main(void) { run(); }
