// CASE: Who catches it deletes it.
// EXPECT: none
#include "../case.h"

static void raise_error() { throw new int(5); }

static int guarded() {
  try {
    raise_error();
  } catch (int* problem) {
    const int code = *problem;
    delete problem;
    return code - 5;
  }
  return 1;
}

int main() { return guarded(); }
