// CASE: A thread's own value under a key is freed by the key's destructor.
// EXPECT: none
// FLAGS: -pthread
#include <pthread.h>

#include "case.h"

static pthread_key_t key;

static void* work(void* unused) {
  char* value = malloc(68);
  value[0] = 'v';
  pthread_setspecific(key, value);
  touch(pthread_getspecific(key));
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_key_create(&key, free);
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
}
