// CASE: A slot of a local array is freed before it is filled again.
// EXPECT: none
#include "case.h"

static void fill(char** slots, long index, size_t size) {
  free(slots[index]);
  slots[index] = malloc(size);
  slots[index][0] = 's';
}

static void run(void) {
  char* slots[3] = {0};
  fill(slots, opaque(1), 22);
  touch(slots[1]);
  fill(slots, opaque(1), 33);
  for (int i = 0; i < 3; i++) free(slots[i]);
}

int main(void) { run(); }
