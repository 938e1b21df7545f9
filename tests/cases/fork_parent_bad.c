// CASE: After a fork the parent loses a block; the child ends at once.
// EXPECT: lost 1 block 62 bytes
// CAUSE: scope-end
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

static void serve(void) {
  char* request = malloc(62);  // ALLOC
  request[0] = 'q';
  touch(request);  // USE
}  // LOSS request

int main(void) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  serve();
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
