// Runs a command and writes what it used: status, CPU seconds, peak memory in KB.
//
// usage: launch RESULT COMMAND...
//
// The peak that the kernel remembers of a process is at least that of whoever started
// it, until it calls exec: a large one that measures hides the peak of a small program.
// This one is small.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time) { return (double)time.tv_sec + time.tv_usec * 1e-6; }

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 2;
  FILE* result = fopen(argv[1], "w");
  if (!result) return 2;
  fprintf(result, "%d %.6f %ld\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
  return fclose(result) == 0 ? 0 : 2;
}
