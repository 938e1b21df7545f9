// CASE: Nobody takes the result of a function that allocates.
// EXPECT: lost 1 block 12 bytes
// CAUSE: discarded
#include "case.h"

static char* make_id(long number) {
  char* id = malloc(12);  // ALLOC
  id[0] = (char)('a' + number);
  id[1] = 0;
  touch(id);  // USE
  return id;
}

static void start(void) {
  make_id(opaque(1));  // LOSS
}

int main(void) { start(); }
