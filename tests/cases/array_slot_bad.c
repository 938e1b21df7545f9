// CASE: A slot of a local array is filled twice.
// EXPECT: lost 1 block 22 bytes
// CAUSE: overwritten
// GAP(check): found - elements at an index that is not known are not told apart
#include "case.h"

static void fill(char** slots, long index, size_t size) {
  slots[index] = malloc(size);  // ALLOC; LOSS slots[1] | slots[index]
  slots[index][0] = 's';
}

static void run(void) {
  char* slots[3] = {0};
  fill(slots, opaque(1), 22);
  touch(slots[1]);  // USE
  fill(slots, opaque(1), 33);
  for (int i = 0; i < 3; i++) free(slots[i]);
}

int main(void) { run(); }
