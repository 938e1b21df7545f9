// -DLIBRARY: an allocator with a name of its own for free, as jemalloc has. Otherwise
// a program that is linked with it, and (-DOTHER) frees by that name.
#include <stdio.h>
#include <stdlib.h>

void dallocx(void *block, int flags);

#ifdef LIBRARY
void *__libc_malloc(size_t);
void __libc_free(void *);
void *malloc(size_t size) { return __libc_malloc(size); }
void free(void *block) { __libc_free(block); }
void dallocx(void *block, int flags) { __libc_free(block); }
#else
int main(void) {
  char *block = malloc(100);
  block[0] = 1;
#ifdef OTHER
  dallocx(block, 0);
#else
  free(block);
#endif
  puts("freed");
  return 6;
}
#endif
