// Argument 1 says where a running thread keeps its only reference:
// register (rbx), vector (xmm9), local, tls. Lost (72 bytes) when it keeps none.
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <unistd.h>

#include "leak.h"

static volatile int ready;
static void *volatile pending;  // on its way to where the thread keeps it
static __thread void *volatile tls;

static void *take(void) {
  void *block = kClean ? (void *)pending : NULL;
  pending = NULL;
  return block;
}

static __attribute__((noinline)) void wait_forever(void) {
  scrub();
  ready = 1;
  for (;;) sleep(100);
}

static __attribute__((noinline)) void keep_in_register(void) {
  void *block = take();
  __asm__ volatile("movq %0, %%rbx\n\txorl %%edi, %%edi\n\tmovl $1, %1\n1: pause\n\tjmp 1b"
                   : "+D"(block), "=m"(ready)
                   :
                   : "rbx", "memory");
}

static __attribute__((noinline)) void keep_in_vector(void) {
  void *block = take();
  __asm__ volatile("movq %0, %%xmm9\n\txorl %%edi, %%edi\n\tmovl $1, %1\n1: pause\n\tjmp 1b"
                   : "+D"(block), "=m"(ready)
                   :
                   : "xmm9", "memory");
}

static __attribute__((noinline)) void keep_in_local(void) {
  void *volatile local = take();
  wait_forever();
  hide((void *)local);
}

static void *run(void *how) {
  pending = make(72);
  scrub();
  if (strcmp(how, "register") == 0) keep_in_register();
  if (strcmp(how, "vector") == 0) keep_in_vector();
  if (strcmp(how, "local") == 0) keep_in_local();
  tls = take();
  wait_forever();
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  pthread_t thread;
  pthread_create(&thread, NULL, run, arguments[1]);
  while (!ready) usleep(1000);
  scrub();
  return 0;
}
