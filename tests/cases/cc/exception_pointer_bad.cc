// CASE: An exception by pointer is caught and nobody deletes it.
// EXPECT: lost 1 block 4 bytes
// CAUSE: scope-end
#include "../case.h"

static void raise_error() {
  throw new int(5);  // ALLOC
}

static int guarded() {
  try {
    raise_error();
  } catch (int* problem) {
    const int code = *problem;  // USE
    return code - 5;            // LOSS problem
  }  // LOSS problem
  return 1;
}

int main() { return guarded(); }
