// CASE: Each round overwrites the last round's block; the last one ends with the function.
// EXPECT(a): lost 3 blocks 48 bytes
// CAUSE(a): overwritten
// EXPECT(b): lost 1 block 16 bytes
// CAUSE(b): scope-end
// GAP(check): place(b), cause(b) - one finding for an allocation: the other place is not reported
#include "case.h"

static void work(long rounds) {
  long* best = NULL;
  for (long i = 0; i < rounds; i++) {
    best = malloc(16);  // ALLOC(a); ALLOC(b); LOSS(a) best
    best[0] = i;
    touch(best);  // USE(a); USE(b)
  }
}  // LOSS(b) best

int main(void) { work(opaque(4)); }
