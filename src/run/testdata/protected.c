// Pages of blocks, and mapped ones, that cannot be read; an alternate signal
// stack from malloc that only the kernel knows; memory from sbrk that holds a
// reference. Lost: one block of 72 bytes.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "leak.h"

static char *pages;

static __attribute__((noinline)) void work(void) {
  pages = aligned_alloc(4096, 3 * 4096);
  memset(pages, 0, 3 * 4096);
  mprotect(pages + 4096, 4096, PROT_NONE);
  *(void **)(pages + 2 * 4096) = make(30);
  mmap(NULL, (size_t)1 << 36, PROT_READ | PROT_WRITE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stack_t stack = {0};
  stack.ss_size = 16384;
  stack.ss_sp = make(stack.ss_size);
  sigaltstack(&stack, NULL);
  void **own = sbrk(4096);
  *own = make(31);
  drop(make(72));
}

int main(void) {
  work();
  scrub();
  return 0;
}
