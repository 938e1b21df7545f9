// CASE: The program aborts after it freed everything.
// EXPECT: none
// STATUS: signal 6
#include "case.h"

static void keep(void) {
  char* text = malloc(92);
  text[0] = 't';
  touch(text);
  free(text);
}

int main(void) {
  keep();
  abort();
}
