// CASE: An array of owned strings is freed without the strings.
// EXPECT: lost 3 blocks 24 bytes
// CAUSE: holder-freed
#include "case.h"

static void fill(char** names, long count) {
  for (long i = 0; i < count; i++) {
    names[i] = malloc(8);  // ALLOC
    names[i][0] = (char)('a' + i);
  }
}

static void list(long count) {
  char** names = malloc((size_t)count * sizeof *names);
  fill(names, count);
  for (long i = 0; i < count; i++) touch(names[i]);  // USE
  free(names);  // LOSS names[0] | names[1] | names[2] | names[i]
}

int main(void) { list(opaque(3)); }
