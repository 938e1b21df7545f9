// CASE: A thread-local pointer goes with its thread.
// EXPECT: lost 1 block 72 bytes
// CAUSE: thread-end
// GAP(cc): place, function, holder, cause - does not see the end of a thread's own variables
// FLAGS: -pthread
// GAP(check): found - what a global holds is not followed
#include <pthread.h>

#include "case.h"

__thread char* t_buffer;

static void* work(void* unused) {
  t_buffer = malloc(72);  // ALLOC
  t_buffer[0] = 't';
  touch(t_buffer);  // USE
  return unused;    // LOSS t_buffer
}  // LOSS t_buffer

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}
