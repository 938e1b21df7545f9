// Ends in the way that its argument says, after some work.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *kept[20000];

int main(int count, char **arguments) {
  const char *how = count > 1 ? arguments[1] : "";
  for (int i = 0; i < 20000; ++i) kept[i] = memset(malloc(300), 1, 300);
  if (strcmp(how, "sleep") == 0) {
    printf("ready\n");
    fflush(stdout);
    for (int i = 0; i < 120; ++i) {
      usleep(10000);
      for (volatile int k = 0; k < 1000000; ++k) {
      }
    }
    return 0;
  }
  if (strcmp(how, "kill") == 0) {
    usleep(400000);
    kill(getpid(), SIGKILL);
  }
  if (strcmp(how, "exec") == 0) execlp("echo", "echo", "the other program", (char *)NULL);
  if (strcmp(how, "_exit") == 0) _exit(7);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "quick") == 0) quick_exit(8);
  printf("end\n");
  return 4;
}
