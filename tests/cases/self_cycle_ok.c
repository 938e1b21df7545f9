// CASE: A block that points to itself is freed.
// EXPECT: none
#include "case.h"

static void knot(void) {
  void** self = malloc(sizeof *self);
  *self = self;
  touch(self);
  free(self);
}

int main(void) { knot(); }
