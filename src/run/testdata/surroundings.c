// What the program sees is what it would see without us: prints variables that
// should not be there, open descriptors beyond 2, and the preload it was given.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "leak.h"

extern char **environ;

int main(void) {
  for (char **at = environ; *at != NULL; ++at) {
    if (strncmp(*at, "PLUMB_RUNTIME", 13) == 0) printf("variable %s\n", *at);
    if (strncmp(*at, "LD_PRELOAD=", 11) == 0) printf("preload %s\n", *at + 11);
  }
  for (int fd = 3; fd < 1024; ++fd) {
    if (fcntl(fd, F_GETFD) != -1) printf("descriptor %d\n", fd);
  }
  errno = 77;
  void *block = make(1000);
  free(block);
  if (errno != 77) printf("errno %d\n", errno);
  char line[100] = "";
  if (fgets(line, sizeof line, stdin) != NULL) printf("input %s", line);
  return 0;
}
