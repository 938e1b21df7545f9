// CASE: The allocation is in tail position, so that its frame may be gone.
// EXPECT: lost 1 block 21 bytes
// CAUSE: scope-end
// GAP(memcheck, -O2): alloc - the tail call leaves no frame of make behind
// GAP(lsan, -O2): alloc - the tail call leaves no frame of make behind
// GAP(run, -O2): alloc - the tail call leaves no frame of make behind
#include "case.h"

__attribute__((noinline)) static char* make(long size) {
  return malloc((size_t)size);  // ALLOC
}

static void run(void) {
  char* text = make(opaque(21));
  text[0] = 't';
  touch(text);  // USE
}  // LOSS text

int main(void) { run(); }
