// CASE: A block is lost, then the program ends by _exit.
// EXPECT: lost 1 block 84 bytes
// CAUSE: scope-end
// STATUS: 3
// GAP(lsan): found - checks at exit only, which _exit does not run
// GAP(run, -O2, clang): use - a tail call leaves no frame of the function behind
#include <unistd.h>

#include "case.h"

static void lose(void) {
  char* text = malloc(84);  // ALLOC
  text[0] = 't';
  touch(text);  // USE
}  // LOSS text

int main(void) {
  lose();
  _exit((int)opaque(3));
}
