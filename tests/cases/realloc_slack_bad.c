// CASE: A block that grows takes along what was left behind its few bytes: no reference.
// EXPECT(a): lost 3 blocks 807 bytes
// CAUSE(a): holder-freed
// EXPECT(b): lost 1 block 170 bytes
// CAUSE(b): scope-end
// GAP(run, -O2, clang-19): place(a), holder(a), cause(a) - the optimiser removes the array
#include "case.h"

static void lose_three(void) {
  char** all = malloc(3 * sizeof *all);
  for (long i = 0; i < opaque(3); i++) {
    all[i] = malloc(269);  // ALLOC(a)
    touch(all[i]);         // USE(a)
  }
  free(all);  // LOSS(a) all[0] | all[1] | all[2]
}

static void grow(void) {
  char* text = malloc(opaque(1));
  text = realloc(text, 170);  // ALLOC(b)
  text[0] = 'r';
  touch(text);         // USE(b)
  if (opaque(1)) return;  // LOSS(b) text
  free(text);
}  // LOSS(b) text

int main(void) {
  lose_three();
  grow();
}
