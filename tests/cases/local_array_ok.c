// CASE: What a local array of pointers holds is freed before it ends.
// EXPECT: none
#include "case.h"

static void collect(long count) {
  char* parts[count];
  for (long i = 0; i < count; i++) {
    parts[i] = malloc(9);
    parts[i][0] = (char)('0' + i);
  }
  for (long i = 0; i < count; i++) touch(parts[i]);
  for (long i = 0; i < count; i++) free(parts[i]);
}

int main(void) { collect(opaque(3)); }
