// CASE: A local is freed before its function ends.
// EXPECT: none
#include "case.h"

static void greet(const char* name) {
  char* text = malloc(24);
  strcpy(text, "hello ");
  strcat(text, name);
  touch(text);
  free(text);
}

int main(void) { greet("world"); }
