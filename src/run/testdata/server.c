// Loses three blocks of 50 bytes, then serves until it is told to end: one thread
// waits, another one allocates and frees.
#include <pthread.h>
#include <unistd.h>

#include "leak.h"

static void *work(void *unused) {
  for (;;) {
    void *block = make(64);
    free(block);
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < 3; ++i) drop(make(50));
  scrub();
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  alarm(300);  // nobody asked
  for (;;) pause();
}
