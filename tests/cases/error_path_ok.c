// CASE: The cleanup after a failed second step frees what the first one made.
// EXPECT: none
#include <stdio.h>

#include "case.h"

static int load(const char* path) {
  int result = -1;
  char* head = malloc(40);
  FILE* file = NULL;
  if (!head) goto out;
  head[0] = 'h';
  touch(head);
  file = fopen(path, "r");
  if (!file) goto out;
  result = 0;
out:
  free(head);
  if (file) fclose(file);
  return result;
}

int main(void) { return load("/nonexistent/file") == -1 ? 0 : 1; }
