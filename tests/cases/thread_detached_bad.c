// CASE: A detached thread loses a block before main ends.
// EXPECT: lost 1 block 44 bytes
// CAUSE: scope-end
// FLAGS: -pthread
#include <pthread.h>
#include <semaphore.h>

#include "case.h"

static sem_t done;

static void handle(void) {
  char* request = malloc(44);  // ALLOC
  request[0] = 'q';
  touch(request);  // USE
}  // LOSS request

static void* serve(void* unused) {
  handle();
  sem_post(&done);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_init(&done, 0, 0);
  pthread_create(&thread, NULL, serve, NULL);
  pthread_detach(thread);
  sem_wait(&done);
}
