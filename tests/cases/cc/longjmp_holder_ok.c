// CASE: The structure lives in who is jumped to, which frees.
// EXPECT: none
#include <setjmp.h>

#include "../case.h"

jmp_buf back;
struct request {
  int kind;
  char* body;
};
struct request* shared;

static void fail(void) { longjmp(back, 1); }

static void handle(void) {
  struct request request = {1, malloc(33)};
  shared = &request;
  touch(shared->body);
  shared = NULL;
  free(request.body);
  fail();
}

int main(void) {
  if (setjmp(back) == 0) handle();
}
