// Held by an interior, a one-past-the-end, a low-bit-tagged reference, by a
// reference in a block that only a mapped page holds, and by one in the slack
// that malloc_usable_size revealed. Lost: one of 33 bytes whose
// reference was moved out of the block.
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>

#include "leak.h"

static char *volatile interior, *volatile past_end;
static volatile uintptr_t tagged;
static void **volatile slack;
static volatile uintptr_t outside;

static __attribute__((noinline)) void work(void) {
  interior = (char *)make(1000) + 500;
  past_end = (char *)make(64) + 64;
  tagged = (uintptr_t)make(80) | 1;
  void **page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void **first = make(40);
  *first = make(41);
  *page = first;
  void **roomy = make(20);
  memset(roomy, 0, malloc_usable_size(roomy));
  roomy[malloc_usable_size(roomy) / sizeof *roomy - 1] = make(42);
  slack = roomy;
  char *away = make(33);
  outside = (uintptr_t)away ^ UINT64_C(0x5555000000000000);
  if (kClean) free(away);
}

int main(void) {
  work();
  scrub();
  return 0;
}
