// CASE: A local array of pointers ends with its function.
// EXPECT: lost 3 blocks 27 bytes
// CAUSE: scope-end
// GAP(run): holder - the debug information has no variable there
#include "case.h"

static void collect(long count) {
  char* parts[count];
  for (long i = 0; i < count; i++) {
    parts[i] = malloc(9);  // ALLOC
    parts[i][0] = (char)('0' + i);
  }
  for (long i = 0; i < count; i++) touch(parts[i]);  // USE
}  // LOSS parts[0] | parts[1] | parts[2]

int main(void) { collect(opaque(3)); }
