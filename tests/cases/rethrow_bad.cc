// CASE: A handler cleans up one of two objects and throws on.
// EXPECT: lost 1 block 29 bytes
// CAUSE: escaped-throw
// GAP(run, -O2, clang): cause, place - the optimiser left only a register, which ends with its last use
#include <stdexcept>

#include "case.h"

static void fail(long value) {
  if (value) throw std::runtime_error("failed");
}

static void handle(long value) {
  char* first = new char[28];
  char* second = new char[29];  // ALLOC
  first[0] = second[0] = 'x';
  touch(first);
  touch(second);  // USE
  try {
    fail(value);  // LOSS second
  } catch (...) {
    delete[] first;
    throw;  // LOSS second
  }
  delete[] first;
  delete[] second;
}

int main() {
  try {
    handle(opaque(1));
  } catch (const std::exception&) {
    return 0;
  }
  return 1;
}
