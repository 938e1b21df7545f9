// Ends badly by its own doing: double-free, overrun, out-of-memory, threads.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "leak.h"

static void* volatile sink;

static void lose(void) {
  char* text = malloc(40);
  text[0] = 't';
  sink = text;
  sink = NULL;
}

static void* wait_here(void* barrier) {
  sink = malloc(8);
  pthread_barrier_wait(barrier);
  return NULL;
}

static int many_threads(int count) {
  static pthread_t threads[1000];
  pthread_barrier_t barrier;
  pthread_attr_t small;
  pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  for (int i = 0; i < count; i++) {
    if (pthread_create(&threads[i], &small, wait_here, &barrier) != 0) return 9;
  }
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  return 0;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  lose();
  if (strcmp(mode, "double-free") == 0) {
    char* volatile twice = malloc(200);
    free(twice);
    free(twice);
  } else if (strcmp(mode, "overrun") == 0) {
    volatile char* first = malloc(2000);
    sink = malloc(2000);
    for (int i = 0; i < 2040; i++) first[i] = 'x';
    free(sink);
  } else if (strcmp(mode, "out-of-memory") == 0) {
    const struct rlimit limit = {(rlim_t)3 << 30, (rlim_t)3 << 30};
    setrlimit(RLIMIT_AS, &limit);
    void** last = NULL;
    int count = 0;
    for (void** block; (block = malloc(16 << 20)) != NULL; last = block, ++count) block[0] = last;
    struct rlimit now;
    getrlimit(RLIMIT_AS, &now);
    // 3 GB are about 190 of them.
    return now.rlim_cur == limit.rlim_cur && count > 100 && count < 260 ? 7 : 6;
  } else if (strcmp(mode, "threads") == 0) {
    return many_threads(1000);
  }
  return 8;
}
