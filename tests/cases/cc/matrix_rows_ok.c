// CASE: Rows and array are freed.
// EXPECT: none
#include "../case.h"

static void release(char** rows, int count) {
  for (int i = 0; i < count; i++) free(rows[i]);
  (void)count;
  free(rows);
}

int main(void) {
  char** rows = malloc(3 * sizeof *rows);
  for (int i = 0; i < 3; i++) {
    rows[i] = malloc(16);
    touch(rows[i]);
  }
  release(rows, 3);
}
