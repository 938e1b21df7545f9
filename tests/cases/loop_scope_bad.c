// CASE: A local of the loop's body is lost in each round.
// EXPECT: lost 5 blocks 160 bytes
// CAUSE: scope-end
#include "case.h"

static void work(long rounds) {
  for (long i = 0; i < rounds; i++) {
    long* scratch = malloc(32);  // ALLOC
    scratch[0] = i;
    touch(scratch);  // USE
  }  // LOSS scratch
}

int main(void) { work(opaque(5)); }
