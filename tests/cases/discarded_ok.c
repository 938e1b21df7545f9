// CASE: The result of a function that allocates is freed at once.
// EXPECT: none
#include "case.h"

static char* make_id(long number) {
  char* id = malloc(12);
  id[0] = (char)('a' + number);
  id[1] = 0;
  touch(id);
  return id;
}

static void start(void) { free(make_id(opaque(1))); }

int main(void) { start(); }
