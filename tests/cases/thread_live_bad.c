// CASE: While a thread that holds a block still runs, main loses another one.
// EXPECT(a): lost 1 block 19 bytes
// CAUSE(a): scope-end
// EXPECT(b): forgotten 1 block 17 bytes
// FLAGS: -pthread
#include <pthread.h>
#include <semaphore.h>

#include "case.h"

static sem_t ready, never;

static void* hold(void* unused) {
  char* held = malloc(17);  // ALLOC(b)
  held[0] = 'h';
  sem_post(&ready);
  sem_wait(&never);
  touch(held);
  free(held);
  return unused;
}

static void lose(void) {
  char* text = malloc(19);  // ALLOC(a)
  text[0] = 't';
  touch(text);  // USE(a)
}  // LOSS(a) text

int main(void) {
  pthread_t thread;
  sem_init(&ready, 0, 0);
  sem_init(&never, 0, 0);
  pthread_create(&thread, NULL, hold, NULL);
  sem_wait(&ready);
  lose();
}
