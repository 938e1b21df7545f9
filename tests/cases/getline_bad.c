// CASE: The buffer that getline allocated is not freed.
// EXPECT: lost 1 block 120 bytes
// CAUSE: scope-end
// FLAGS: -D_GNU_SOURCE
#include <stdio.h>

#include "case.h"

static long count_lines(void) {
  char text[] = "one\ntwo\nthree\n";
  FILE* file = fmemopen(text, sizeof text - 1, "r");
  char* line = NULL;
  size_t room = 0;
  long count = 0;
  while (getline(&line, &room, file) > 0) count++;  // ALLOC
  touch(line);                                      // USE
  fclose(file);
  return count;  // LOSS line
}  // LOSS line

int main(void) { return count_lines() == 3 ? 0 : 1; }
