// CASE: A thread returns a block and nobody takes it.
// EXPECT: lost 1 block 88 bytes
// CAUSE: discarded
// GAP(cc): found - libc keeps the result of a joined thread in its stack cache
// FLAGS: -pthread
// GAP(run): found - libc keeps the result of a joined thread in its stack cache
#include <pthread.h>

#include "case.h"

static void* compute(void* unused) {
  char* result = malloc(88);  // ALLOC
  result[0] = 'r';
  touch(result);  // USE
  (void)unused;
  return result;
}

static void run(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, compute, NULL);
  pthread_join(thread, NULL);  // LOSS
}

int main(void) { run(); }
