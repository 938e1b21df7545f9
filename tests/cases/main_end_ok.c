// CASE: A local of main is freed before main returns.
// EXPECT: none
#include "case.h"

int main(void) {
  char* state = malloc(56);
  state[0] = 's';
  touch(state);
  free(state);
  return 0;
}
