// 64 threads allocate, free and hand blocks on while the main thread exits.
// Nothing is ever lost: every block is in a local or in the common table.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#include "leak.h"

enum { kThreads = 64, kSlots = 256 };
static _Atomic(void *) table[kSlots];

static void *run(void *seed) {
  uintptr_t state = (uintptr_t)seed * 2654435761u + 1;
  for (;;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    void *volatile block = malloc(state >> 40 & 1023);
    if (state & 4096) block = realloc((void *)block, state >> 50);
    if (state & 8192) {
      free((void *)block);
    } else {
      void *old = atomic_exchange(&table[state >> 20 & (kSlots - 1)], (void *)block);
      block = old;
      old = NULL;
      free((void *)block);
    }
    block = NULL;
  }
  return NULL;
}

int main(void) {
  for (uintptr_t i = 0; i < kThreads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)i) != 0) return 1;
  }
  usleep(20000);
  return 0;
}
