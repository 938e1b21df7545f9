// Children allocate, lose and free as they like; none of it is the parent's.
// Argument 1: fork, clone (a system call of its own), vfork, system.
// The parent loses one block of 72 bytes.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak.h"

static void *from_parent;

static void child(void) {
  for (int i = 0; i < 1000; ++i) make(100);
  free(from_parent);
  void *more = make(50);
  free(more);
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  const char *how = arguments[1];
  from_parent = make(40);
  drop(make(72));
  scrub();
  pid_t pid = 0;
  if (strcmp(how, "fork") == 0) {
    pid = fork();
    if (pid == 0) {
      child();
      exit(5);
    }
  } else if (strcmp(how, "clone") == 0) {
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
      child();
      exit(5);
    }
  } else if (strcmp(how, "vfork") == 0) {
    pid = vfork();
    if (pid == 0) _exit(5);
  } else {
    return system("exit 5") == 5 << 8 ? 0 : 1;
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status) == 5 ? 0 : 1;
}
