// CASE: The clean-up frees both.
// EXPECT: none
#include "../case.h"

static int work(long fails) {
  int result = -1;
  char* second = NULL;
  char* first = malloc(62);
  touch(first);
  if (fails) goto out;
  second = malloc(12);
  touch(second);
  result = 0;
  free(first);
  first = NULL;
out:
  free(first);
  free(second);
  return result;
}

int main(void) { return work(opaque(1)) == 0; }
