// CASE: A block held by the stack of a thread that still runs is not lost.
// EXPECT: forgotten 1 block 17 bytes
// FLAGS: -pthread
#include <pthread.h>
#include <semaphore.h>

#include "case.h"

static sem_t ready, never;

static void* hold(void* unused) {
  char* held = malloc(17);  // ALLOC
  held[0] = 'h';
  sem_post(&ready);
  sem_wait(&never);
  touch(held);
  free(held);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&ready, 0, 0);
  sem_init(&never, 0, 0);
  pthread_create(&thread, NULL, hold, NULL);
  sem_wait(&ready);
}
