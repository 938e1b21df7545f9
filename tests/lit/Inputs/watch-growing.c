// Remembers every request and never looks at one again; with -DCLEAN it forgets
// them. Runs for as much CPU time as its argument says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct request {
  struct request *next;
  char text[200];
};
static struct request *done;

static __attribute__((noinline)) void remember(void) {
  struct request *request = malloc(sizeof *request);
  memset(request->text, 1, sizeof request->text);
  request->next = done;
  done = request;
}
static __attribute__((noinline)) void forget(void) {
  struct request *request = done;
  done = request->next;
  free(request);
}

int main(int count, char **arguments) {
  const double seconds = count > 1 ? atof(arguments[1]) : 0;
  struct timespec now = {0};
  do {
    for (int i = 0; i < 5; ++i) {
      remember();
#ifdef CLEAN
      forget();
#endif
    }
    for (volatile int i = 0; i < 2000; ++i) {
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < seconds);
  (void)forget;
  printf("served\n");
  return 3;
}
