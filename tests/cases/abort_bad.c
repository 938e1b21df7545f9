// CASE: A block is lost, then the program aborts.
// EXPECT: lost 1 block 92 bytes
// CAUSE: scope-end
// STATUS: signal 6
// GAP(lsan): found - checks at exit only, which abort does not run
// GAP(run, -O0): found - holes in the frames of abort still hold the pointer of the frame before
// GAP(run, -O2, clang): found - as above
#include "case.h"

static void lose(void) {
  char* text = malloc(92);  // ALLOC
  text[0] = 't';
  touch(text);  // USE
}  // LOSS text

int main(void) {
  lose();
  abort();
}
