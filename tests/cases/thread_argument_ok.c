// CASE: A thread frees the block that it is given.
// EXPECT: none
// FLAGS: -pthread
#include <pthread.h>

#include "case.h"

struct Job {
  long from;
  long to;
};

static void* work(void* argument) {
  struct Job* job = argument;
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
  pthread_join(thread, NULL);
}

int main(void) { start(); }
