// Starts others. Lost: 72 bytes here, ten blocks of 30 in a child that is forked,
// 40 bytes in a program that is started ("leaf").
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak.h"

extern char **environ;
static void *volatile held;

static int wait_for(pid_t pid) {
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

int main(int count, char **arguments) {
  if (count == 2 && strcmp(arguments[1], "leaf") == 0) {
    drop(make(40));
    scrub();
    return 0;
  }
  held = make(64);
  drop(make(72));
  scrub();
  pid_t pid = fork();
  if (pid == 0) {
    for (int i = 0; i < 10; ++i) drop(make(30));
    free((void *)held);
    held = NULL;
    scrub();
    exit(0);
  }
  if (wait_for(pid) != 0) return 1;
  char *words[] = {arguments[0], "leaf", NULL};
  if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ) != 0) return 2;
  if (wait_for(pid) != 0) return 3;
  free((void *)held);
  held = NULL;
  return 0;
}
