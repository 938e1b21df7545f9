// Remembers every request and never looks at one again; with -DCLEAN it forgets
// them. Lives for as many steps as its argument says; with "-", until its standard
// input ends.
#include "../../../src/watch/testdata/steps.h"

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

static int goes_on(const char *argument, int step) {
  if (strcmp(argument, "-") != 0) return step < atoi(argument);
  char letter;
  return read(STDIN_FILENO, &letter, 1) != 0;  // does not wait
}

int main(int count, char **arguments) {
  fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
  for (int step = 0; count > 1 && goes_on(arguments[1], step); ++step) {
    for (int i = 0; i < 250; ++i) {
      remember();
#ifdef CLEAN
      forget();
#endif
    }
    end_step(0.006);
  }
  (void)forget;
  printf("served\n");
  return 3;
}
