// CASE: A thread frees its thread-local block before it ends.
// EXPECT: none
// FLAGS: -pthread
#include <pthread.h>

#include "case.h"

__thread char* t_buffer;

static void* work(void* unused) {
  t_buffer = malloc(72);
  t_buffer[0] = 't';
  touch(t_buffer);
  free(t_buffer);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}
