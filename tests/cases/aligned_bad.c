// CASE: Blocks of each aligned allocator are lost.
// EXPECT(a): lost 1 block 128 bytes
// CAUSE(a): scope-end
// EXPECT(b): lost 1 block 100 bytes
// CAUSE(b): scope-end
// EXPECT(c): lost 1 block 96 bytes
// CAUSE(c): scope-end
// GAP(run, -O2, gcc): holder(b) - the debug information has no variable there
#include <malloc.h>

#include "case.h"

static int allocate(void) {
  void* posix = NULL;
  char* iso = aligned_alloc(64, 128);                   // ALLOC(a)
  if (posix_memalign(&posix, 256, 100) != 0) return 1;  // ALLOC(b)
  char* old = memalign(4096, 96);                       // ALLOC(c)
  iso[0] = old[0] = *(char*)posix = 'a';
  touch(iso);    // USE(a)
  touch(posix);  // USE(b)
  touch(old);    // USE(c)
  return 0;      // LOSS(a) iso; LOSS(b) posix; LOSS(c) old
}  // LOSS(a) iso; LOSS(b) posix; LOSS(c) old

int main(void) { return allocate(); }
