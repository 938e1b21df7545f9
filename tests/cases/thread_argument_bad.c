// CASE: A thread is given a block that it never frees.
// EXPECT: lost 1 block 16 bytes
// CAUSE: scope-end
// FLAGS: -pthread
// GAP(check): place, function, cause - lost in the thread, reported where the starter lets go
#include <pthread.h>
#include <semaphore.h>

#include "case.h"

sem_t g_alone;  // the starter has let go of the job

struct Job {
  long from;
  long to;
};

static void* work(void* argument) {
  struct Job* job = argument;
  sem_wait(&g_alone);
  touch(job);   // USE
  return NULL;  // LOSS job | argument
}  // LOSS job | argument

static void start(void) {
  pthread_t thread;
  struct Job* job = malloc(sizeof *job);  // ALLOC
  job->from = 1;
  job->to = 9;
  pthread_create(&thread, NULL, work, job);
  job = NULL;
  sem_post(&g_alone);
  pthread_join(thread, NULL);
}

int main(void) {
  sem_init(&g_alone, 0, 0);
  start();
}
