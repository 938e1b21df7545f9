// CASE: After a fork both processes free their own copy.
// EXPECT: none
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

static void serve(char* request) {
  request[0] = 'q';
  touch(request);
  free(request);
}

int main(void) {
  char* request = malloc(62);
  pid_t child = fork();
  serve(request);
  if (child == 0) _exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
