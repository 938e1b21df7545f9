// CASE: A table of several megabytes grows by realloc and keeps its rows; one of them is forgotten when it is freed.
// EXPECT: lost 1 block 24 bytes
// CAUSE: holder-freed
#include "../case.h"

enum { kFirst = 200000, kStep = 20000 };

static void release(char** table, long count) {
  for (long i = 0; i < count; i += kStep)
    if (i != 0) free(table[i]);
  free(table);  // LOSS table[0]
}

int main(void) {
  long count = opaque(kFirst);
  char** table = calloc((size_t)count, sizeof *table);
  table[0] = malloc(24);  // ALLOC
  for (long i = kStep; i < count; i += kStep) table[i] = malloc(16);
  for (int round = 0; round < 3; round++) {
    char** larger = realloc(table, 2 * (size_t)count * sizeof *table);
    if (!larger) return 2;
    table = larger;
    for (long i = count; i < 2 * count; i++) table[i] = NULL;
    for (long i = count; i < 2 * count; i += kStep) table[i] = malloc(16);
    count *= 2;
  }
  for (long i = 0; i < count; i++)
    if ((i % kStep == 0) != (table[i] != NULL)) return 3;
  touch(table[0]);  // USE
  release(table, count);
}
