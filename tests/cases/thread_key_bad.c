// CASE: A thread's own value under a key without destructor goes with the thread.
// EXPECT: lost 1 block 68 bytes
// CAUSE: thread-end
// GAP(cc): cause - does not see the end of a thread's own values
// FLAGS: -pthread
// GAP(check): found - values of thread keys are not followed
#include <pthread.h>

#include "case.h"

static pthread_key_t key;

static void* work(void* unused) {
  char* value = malloc(68);  // ALLOC
  value[0] = 'v';
  pthread_setspecific(key, value);
  touch(pthread_getspecific(key));  // USE
  return unused;                    // LOSS
}  // LOSS

int main(void) {
  pthread_t thread;
  pthread_key_create(&key, NULL);
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}
