// CASE: A local is never freed and its function ends.
// EXPECT: lost 1 block 24 bytes
// CAUSE: scope-end
#include "case.h"

static void greet(const char* name) {
  char* text = malloc(24);  // ALLOC
  strcpy(text, "hello ");
  strcat(text, name);
  touch(text);  // USE
}  // LOSS text

int main(void) { greet("world"); }
