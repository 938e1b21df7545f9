// CASE: A static local is freed before each new block; the last one stays reachable.
// EXPECT: forgotten 1 block 50 bytes
#include "case.h"

static const char* format(long number) {
  static char* buffer;
  free(buffer);
  buffer = malloc(50);  // ALLOC
  buffer[0] = (char)('0' + number);
  return buffer;
}

int main(void) {
  touch(format(opaque(1)));
  touch(format(opaque(2)));
  touch(format(opaque(3)));
}
