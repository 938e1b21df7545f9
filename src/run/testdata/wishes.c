// Loses a block, or with -DCLEAN frees it, wants its report, twice from two threads at
// once, loses another one and ends.
#include <plumb.h>
#include <pthread.h>
#include <stdlib.h>

static void* volatile place;

__attribute__((noinline)) static void lose(size_t size) {
  place = malloc(size);
#ifdef CLEAN
  free(place);
#endif
  place = 0;
}

static void* wish(void* nothing) {
  PLUMB_REPORT_NOW();
  return nothing;
}

int main(void) {
  lose(50);
  wish(0);
  pthread_t thread;
  pthread_create(&thread, 0, wish, 0);
  wish(0);
  pthread_join(thread, 0);
  lose(70);
  return 3;
}
