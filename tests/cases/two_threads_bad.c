// CASE: Two threads each lose one block and free another.
// EXPECT: lost 2 blocks 64 bytes
// CAUSE: scope-end
// FLAGS: -pthread
#include <pthread.h>

#include "case.h"

static void step(long number) {
  long* kept = malloc(24);
  long* lost = malloc(32);  // ALLOC
  kept[0] = lost[0] = number;
  touch(kept);
  touch(lost);  // USE
  free(kept);
}  // LOSS lost

static void* work(void* argument) {
  step((long)(intptr_t)argument);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
