// CASE: A block that points to itself is lost.
// EXPECT: lost 1 block 8 bytes
// CAUSE: scope-end
#include "case.h"

static void knot(void) {
  void** self = malloc(sizeof *self);  // ALLOC
  *self = self;
  touch(self);  // USE
}  // LOSS self

int main(void) { knot(); }
