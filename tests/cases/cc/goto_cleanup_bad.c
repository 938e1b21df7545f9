// CASE: A jump to the clean-up skips the free of one of two blocks.
// EXPECT: lost 1 block 62 bytes
// CAUSE: scope-end
#include "../case.h"

static int work(long fails) {
  int result = -1;
  char* second = NULL;
  char* first = malloc(62);  // ALLOC
  touch(first);              // USE
  if (fails) goto out;
  second = malloc(12);
  touch(second);
  result = 0;
  free(first);
  first = NULL;
out:
  free(second);
  return result;  // LOSS first
}  // LOSS first

int main(void) { return work(opaque(1)) == 0; }
