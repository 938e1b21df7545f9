// CASE: A thread is given a block that it never frees.
// EXPECT: lost 1 block 16 bytes
// CAUSE: scope-end
// FLAGS: -pthread
#include <pthread.h>

#include "case.h"

struct Job {
  long from;
  long to;
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* argument) {
  struct Job* job = argument;
  pthread_mutex_lock(&gate);  // until start has let go
  pthread_mutex_unlock(&gate);
  touch(job);   // USE
  return NULL;  // LOSS job | argument
}  // LOSS job | argument

static void start(void) {
  pthread_t thread;
  struct Job* job = malloc(sizeof *job);  // ALLOC
  job->from = 1;
  job->to = 9;
  pthread_mutex_lock(&gate);
  pthread_create(&thread, NULL, work, job);
  job = NULL;
  pthread_mutex_unlock(&gate);
  pthread_join(thread, NULL);
}

int main(void) { start(); }
