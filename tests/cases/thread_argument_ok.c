// CASE: A thread frees the block that it is given.
// EXPECT: none
// FLAGS: -pthread
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
  touch(job);
  free(job);
  return NULL;
}

static void start(void) {
  pthread_t thread;
  struct Job* job = malloc(sizeof *job);
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
