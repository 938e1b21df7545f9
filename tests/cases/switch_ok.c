// CASE: Every case of a switch reaches the free.
// EXPECT: none
#include "case.h"

static int dispatch(long command) {
  int result = 0;
  char* reply = malloc(14);
  reply[0] = 'r';
  switch (command) {
    case 1:
      touch(reply);
      break;
    case 2:
      touch(reply);
      result = 2;
      break;
    default:
      break;
  }
  free(reply);
  return result;
}

int main(void) { return dispatch(opaque(2)) == 2 && dispatch(opaque(1)) == 0 ? 0 : 1; }
