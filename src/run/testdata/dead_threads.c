// 20 threads end; each had a reference on its stack, which libc keeps for the
// next thread. Lost: 20 blocks of 24 bytes. A detached one waits.
#include <pthread.h>
#include <unistd.h>

#include "leak.h"

static void *run(void *unused) {
  void *volatile local = make(24);
  drop((void *)local);
  return unused;
}

static void *wait_forever(void *unused) {
  for (;;) pause();
  return unused;
}

int main(void) {
  pthread_t waiting;
  pthread_create(&waiting, NULL, wait_forever, NULL);
  pthread_detach(waiting);
  pthread_t threads[20];
  for (int i = 0; i < 20; ++i) pthread_create(&threads[i], NULL, run, NULL);
  for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
  memset(threads, 0, sizeof threads);
  scrub();
  return 0;
}
