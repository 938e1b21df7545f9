// CASE: An atomic exchange puts another block in place; the old one is not taken.
// EXPECT: lost 1 block 40 bytes
// CAUSE: overwritten
#include <stdatomic.h>

#include "../case.h"

_Atomic(char*) current;

static void replace(char* next) {
  atomic_exchange(&current, next);  // LOSS current
}

int main(void) {
  char* first = malloc(40);  // ALLOC
  touch(first);              // USE
  atomic_store(&current, first);
  first = NULL;
  char* second = malloc(50);
  replace(second);
  second = NULL;
  free(atomic_load(&current));
}
