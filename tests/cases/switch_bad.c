// CASE: One case of a switch returns without freeing.
// EXPECT: lost 1 block 14 bytes
// CAUSE: scope-end
// GAP(run, -O2, gcc): cause - the debug information does not say when the variable ends
#include "case.h"

static int dispatch(long command) {
  char* reply = malloc(14);  // ALLOC
  reply[0] = 'r';
  switch (command) {
    case 1:
      touch(reply);
      break;
    case 2:
      touch(reply);  // USE
      return 2;      // LOSS reply
    default:
      break;
  }
  free(reply);
  return 0;
}

int main(void) { return dispatch(opaque(2)) == 2 && dispatch(opaque(1)) == 0 ? 0 : 1; }
