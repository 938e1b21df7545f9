// -DLIBRARY: an allocator that takes glibc's inner names as well, as tcmalloc does.
// Otherwise a program that is linked with it.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LIBRARY
static char room[1 << 20];
static size_t used;

// Blocks of 8 bytes, at addresses that glibc would not give.
void *malloc(size_t size) {
  void *block = room + used;
  used += (size + 7) & ~(size_t)7;
  return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) {
  (void)block;
  return malloc(size);
}
void *memalign(size_t alignment, size_t size) {
  (void)alignment;
  return malloc(size);
}
void *__libc_malloc(size_t size) __attribute__((alias("malloc")));
void *__libc_calloc(size_t count, size_t size) __attribute__((alias("calloc")));
void *__libc_realloc(void *block, size_t size) __attribute__((alias("realloc")));
void *__libc_memalign(size_t alignment, size_t size) __attribute__((alias("memalign")));
void __libc_free(void *block) __attribute__((alias("free")));
#else
int main(void) {
  char *volatile text[8];
  for (int i = 0; i < 8; i++) text[i] = malloc(8);
  puts("ran");
  return text[0] == NULL;
}
#endif
