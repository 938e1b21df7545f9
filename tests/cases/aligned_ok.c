// CASE: Blocks of each aligned allocator are freed.
// EXPECT: none
#include <malloc.h>

#include "case.h"

static int allocate(void) {
  void* posix = NULL;
  char* iso = aligned_alloc(64, 128);
  if (posix_memalign(&posix, 256, 100) != 0) return 1;
  char* old = memalign(4096, 96);
  iso[0] = old[0] = *(char*)posix = 'a';
  touch(iso);
  touch(posix);
  touch(old);
  free(iso);
  free(posix);
  free(old);
  return 0;
}

int main(void) { return allocate(); }
