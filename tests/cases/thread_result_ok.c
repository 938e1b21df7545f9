// CASE: A thread returns a block, and who joins it frees it.
// EXPECT: none
// FLAGS: -pthread
#include <pthread.h>

#include "case.h"

static void* compute(void* unused) {
  char* result = malloc(88);
  result[0] = 'r';
  touch(result);
  (void)unused;
  return result;
}

static void run(void) {
  pthread_t thread;
  void* result;
  pthread_create(&thread, NULL, compute, NULL);
  pthread_join(thread, &result);
  free(result);
}

int main(void) { run(); }
