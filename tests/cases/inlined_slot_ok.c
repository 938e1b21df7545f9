// CASE: A pointer passes through an array of a function that may be inlined; what comes later uses the array's place again.
// EXPECT: none
#include "case.h"

static char* pass(void) {
  char* slots[4] = {0};
  slots[opaque(1)] = malloc(40);
  slots[opaque(1)][0] = 'p';
  return slots[opaque(1)];
}

static void work(void) {
  char* item = pass();
  touch(item);
  free(item);
}

static void more(void) {
  long numbers[4] = {0};
  numbers[opaque(2)] = opaque(3);
  touch(numbers);
}

int main(void) {
  work();
  more();
}
