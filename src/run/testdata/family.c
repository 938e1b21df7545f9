// Each function of the family, lost once: 10, 20, 30, 40, 50, 60, 70, 80, 90.
#include <malloc.h>

#include "leak.h"

int main(void) {
  drop(hide(malloc(10)));
  drop(hide(calloc(2, 10)));
  drop(hide(realloc(hide(malloc(1)), 30)));
  drop(hide(reallocarray(NULL, 4, 10)));
  drop(hide(memalign(64, 50)));
  void *block = NULL;
  if (posix_memalign(&block, 128, 60) != 0) return 1;
  drop(hide(block));
  block = NULL;
  drop(hide(aligned_alloc(256, 70)));
  drop(hide(valloc(80)));
  drop(hide(pvalloc(90)));
  // A realloc that fails leaves the block alone.
  void *volatile same = malloc(5);
  volatile size_t huge = (size_t)1 << 60;
  if (realloc(same, huge) != NULL) return 2;
  free(same);
  // One to size 0 is a free.
  void *volatile gone = malloc(6);
  same = realloc(gone, 0);
  same = gone = NULL;
  if (malloc_usable_size(NULL) != 0) return 3;
  scrub();
  return 0;
}
