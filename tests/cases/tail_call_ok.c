// CASE: Allocation and free in tail position.
// EXPECT: none
#include "case.h"

__attribute__((noinline)) static char* make(long size) { return malloc((size_t)size); }

__attribute__((noinline)) static void drop(char* text) { free(text); }

static void run(void) {
  char* text = make(opaque(21));
  text[0] = 't';
  touch(text);
  drop(text);
}

int main(void) { run(); }
