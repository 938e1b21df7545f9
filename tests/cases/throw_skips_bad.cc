// CASE: An exception leaves the function before its delete.
// EXPECT: lost 1 block 40 bytes
// CAUSE: escaped-throw
// GAP(run, -O2, clang): cause - the throw is part of the function that lost it, and the register is not read on the way out
#include <stdexcept>

#include "case.h"

static void check(long value) {
  if (value > 2) throw std::runtime_error("too large");  // LOSS buffer
}

static void handle(long value) {
  char* buffer = new char[40];  // ALLOC
  buffer[0] = 'b';
  touch(buffer);  // USE
  check(value);   // LOSS buffer
  delete[] buffer;
}

int main() {
  try {
    handle(opaque(3));
  } catch (const std::exception&) {
    return 0;
  }
  return 1;
}
