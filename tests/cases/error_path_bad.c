// CASE: The cleanup after a failed second step forgets what the first one made.
// EXPECT: lost 1 block 40 bytes
// CAUSE: scope-end
#include <stdio.h>

#include "case.h"

static int load(const char* path) {
  int result = -1;
  char* head = malloc(40);  // ALLOC
  FILE* file = NULL;
  if (!head) goto out;
  head[0] = 'h';
  touch(head);  // USE
  file = fopen(path, "r");
  if (!file) goto out;
  result = 0;
  free(head);
out:
  if (file) fclose(file);
  return result;  // LOSS head
}  // LOSS head

int main(void) { return load("/nonexistent/file") == -1 ? 0 : 1; }
