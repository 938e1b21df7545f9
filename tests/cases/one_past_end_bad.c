// CASE: Only the end of a block is remembered; then it goes, too.
// EXPECT: lost 1 block 80 bytes
// CAUSE: overwritten
#include "case.h"

long* g_end;

static void open_range(void) {
  long* range = malloc(80);  // ALLOC
  range[0] = 1;
  touch(range);  // USE
  g_end = range + 10;
}

static void close_range(void) {
  g_end = NULL;  // LOSS g_end
}

int main(void) {
  open_range();
  int held = g_end != NULL;
  close_range();
  return !held;
}
