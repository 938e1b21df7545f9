// CASE: What the exchange gives back is freed.
// EXPECT: none
#include <stdatomic.h>

#include "../case.h"

_Atomic(char*) current;

static void replace(char* next) { free(atomic_exchange(&current, next)); }

int main(void) {
  char* first = malloc(40);
  touch(first);
  atomic_store(&current, first);
  first = NULL;
  char* second = malloc(50);
  replace(second);
  second = NULL;
  free(atomic_load(&current));
}
