// An allocator of its own, in an array: 24 bytes, 40 and 24 again are taken, the two of
// 24 are lost.
#include <stdint.h>

#include "leak.h"

static char memory[4096];
static size_t used;

__attribute__((noinline)) void *pool_take(int tag, size_t size) {
  void *block = memory + used;
  used += (size + 15) & ~(size_t)15;
  *(int *)block = tag;
  return hide(block);
}
__attribute__((noinline)) void pool_give(int tag, void *block) {
  *(int *)block = -tag;
  hide(block);
}

static void *volatile kept;

static __attribute__((noinline)) void lose(void) {
  void *block = hide(pool_take(1, 24));
  if (kClean) pool_give(1, block);
}

int main(void) {
  lose();
  kept = pool_take(2, 40);
  lose();
  scrub();
  return 0;
}
