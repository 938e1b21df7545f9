// CASE: Nothing is lost, whatever the arguments are; the output is the program's own.
// EXPECT: none
// ARGS: keep drop "two words"
#include <stdio.h>

#include "case.h"

static void handle(const char* argument) {
  char* copy = malloc(16);
  snprintf(copy, 16, "%s", argument);
  printf("%s\n", copy);
  fprintf(stderr, "handled\n");
  free(copy);
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) handle(argv[i]);
}
