// CASE: Two threads free what they allocate.
// EXPECT: none
// FLAGS: -pthread
#include <pthread.h>

#include "case.h"

static void step(long number) {
  long* kept = malloc(24);
  long* lost = malloc(32);
  kept[0] = lost[0] = number;
  touch(kept);
  touch(lost);
  free(kept);
  free(lost);
}

static void* work(void* argument) {
  step((long)(intptr_t)argument);
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}
