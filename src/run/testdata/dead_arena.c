// A thread with a heap of its own frees all it had there; a reference to a block of 72 bytes
// is left in what it freed. Then the block is lost.
#include <pthread.h>

#include "leak.h"

static void *volatile shared;

static void *work(void *unused) {
  void **blocks[40];
  for (int i = 0; i < 40; ++i) {
    blocks[i] = malloc(400);
    for (int j = 4; j < 50; ++j) blocks[i][j] = shared;
    hide(blocks[i]);
  }
  for (int i = 0; i < 40; ++i) free(blocks[i]);
  memset(blocks, 0, sizeof blocks);
  hide(blocks);
  return unused;
}

int main(void) {
  shared = make(72);
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  drop(shared);
  shared = 0;
  scrub();
  return 0;
}
