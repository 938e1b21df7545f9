// CASE: The program's arguments decide how much is lost; output goes to both streams.
// EXPECT: lost 2 blocks 16 bytes
// CAUSE: scope-end
// ARGS: keep drop drop
#include <stdio.h>

#include "case.h"

static void handle(const char* argument) {
  char* copy = malloc(8);  // ALLOC
  snprintf(copy, 8, "%s", argument);
  printf("%s\n", copy);
  fprintf(stderr, "handled\n");
  if (strcmp(copy, "drop") == 0) return;  // USE; LOSS copy
  free(copy);
}  // LOSS copy

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) handle(argv[i]);
}
