#include <stdio.h>
#include <stdlib.h>

char *copy_of(const char *text);

int greet(const char *name, int quiet) {
  char *copy = copy_of(name);
  if (quiet) return 1;
  puts(copy);
  free(copy);
  return 0;
}
