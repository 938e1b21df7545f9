// CASE: A pointer passes through an array of a function that may be inlined; what comes later uses the array's place again.
// EXPECT: lost 1 block 40 bytes
// CAUSE: scope-end
// GAP(run, -O2): holder - the debug information has no variable there
// GAP(run, -O2, clang): cause, function, place - the word of the array counts until it is used again
#include "case.h"

static char* pass(void) {
  char* slots[4] = {0};
  slots[opaque(1)] = malloc(40);  // ALLOC
  slots[opaque(1)][0] = 'p';
  return slots[opaque(1)];
}

static void work(void) {
  char* item = pass();
  touch(item);  // USE
}  // LOSS item

static void more(void) {
  long numbers[4] = {0};
  numbers[opaque(2)] = opaque(3);
  touch(numbers);
}

int main(void) {
  work();
  more();
}
