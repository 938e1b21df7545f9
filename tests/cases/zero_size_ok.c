// CASE: A block of no bytes is freed like others.
// EXPECT: none
#include "case.h"

static int make(long size) {
  char* empty = malloc((size_t)size);
  int failed = opaque((intptr_t)empty) == 0;
  free(empty);
  return failed;
}

int main(void) { return make(opaque(0)); }
