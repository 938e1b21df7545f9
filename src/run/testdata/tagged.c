// Holds a block by a word with a tag in its upper bits. Leaking: that word is set
// anew. Lost: one block of 72 bytes; without a mask that knows of the tag, always.
#include <stdint.h>

#include "leak.h"

static volatile uintptr_t tagged;

static __attribute__((noinline)) void hold(void) {
  tagged = (uintptr_t)make(72) | UINT64_C(0x5aa5) << 48;
}

static __attribute__((noinline)) void lose(void) { tagged = 1; }

int main(void) {
  hold();
  scrub();
  if (!kClean) lose();
  scrub();
  return 0;
}
