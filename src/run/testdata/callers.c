// The same function allocates for two callers, from equally deep stacks.
#include "leak.h"

static __attribute__((noinline)) void* make_one(long size) {
  void* block = malloc((size_t)size);
  __asm__ volatile("" : "+r"(block));
  return block;
}
static __attribute__((noinline)) void lose(long size) {
  void* block = make_one(size);
  __asm__ volatile("" : "+r"(block));
  if (kClean) free(block);
}
static __attribute__((noinline)) void first(void) {
  lose(40);
  __asm__ volatile("");
}
static __attribute__((noinline)) void second(void) {
  lose(40);
  __asm__ volatile("");
}

int main(void) {
  for (int i = 0; i < 3; ++i) {
    first();
    second();
  }
}
