// CASE: A local of the loop's body is freed in each round.
// EXPECT: none
#include "case.h"

static void work(long rounds) {
  for (long i = 0; i < rounds; i++) {
    long* scratch = malloc(32);
    scratch[0] = i;
    touch(scratch);
    free(scratch);
  }
}

int main(void) { work(opaque(5)); }
