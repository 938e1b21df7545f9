// CASE: A block is lost, then the program aborts.
// EXPECT: lost 1 block 92 bytes
// CAUSE: scope-end
// STATUS: signal 6
// GAP(lsan): found - checks at exit only, which abort does not run
// GAP(run, -O2, clang): use - a tail call leaves no frame of the function behind
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
