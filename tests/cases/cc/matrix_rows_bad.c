// CASE: The array of rows is freed, the rows are not.
// EXPECT: lost 3 blocks 48 bytes
// CAUSE: holder-freed
#include "../case.h"

static void release(char** rows, int count) {
  (void)count;
  free(rows);  // LOSS rows[0] | rows[1] | rows[2]
}

int main(void) {
  char** rows = malloc(3 * sizeof *rows);
  for (int i = 0; i < 3; i++) {
    rows[i] = malloc(16);  // ALLOC
    touch(rows[i]);        // USE
  }
  release(rows, 3);
}
