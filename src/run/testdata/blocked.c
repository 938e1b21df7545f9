// A thread sleeps with every signal blocked, libc's own too; its local holds a
// block. Lost when it does not: 72 bytes.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leak.h"

static volatile int ready;

static __attribute__((noinline)) void wait_with(void *block) {
  void *volatile local = kClean ? block : NULL;
  block = NULL;
  scrub();
  ready = 1;
  for (;;) syscall(SYS_pause);
  hide((void *)local);
}

static void *run(void *unused) {
  uint64_t all = ~UINT64_C(0);
  syscall(SYS_rt_sigprocmask, 0, &all, NULL, 8);
  wait_with(make(72));
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  while (!ready) usleep(1000);
  scrub();
  return 0;
}
