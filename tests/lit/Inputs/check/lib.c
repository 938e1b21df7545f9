#include <stdlib.h>
#include <string.h>

char *copy_of(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (!copy) abort();
  return strcpy(copy, text);
}
