// CASE: A detached thread frees its block before main ends.
// EXPECT: none
// FLAGS: -pthread
#include <pthread.h>
#include <semaphore.h>

#include "case.h"

static sem_t done;

static void handle(void) {
  char* request = malloc(44);
  request[0] = 'q';
  touch(request);
  free(request);
}

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
