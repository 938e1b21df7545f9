// CASE: A jump leaves a function that had filled a structure on its stack.
// EXPECT: lost 1 block 33 bytes
// CAUSE: scope-end
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
  struct request request = {1, malloc(33)};  // ALLOC
  shared = &request;
  touch(shared->body);  // USE
  shared = NULL;
  fail();  // LOSS request.body
}

int main(void) {
  if (setjmp(back) == 0) handle();
}
