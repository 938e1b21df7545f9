// CASE: Equal strings are dropped from a sorted array by moving the others up.
// EXPECT: lost 1 block 12 bytes
// CAUSE: overwritten
// GAP(check): place, function, holder - elements at an unknown index are not told apart
#include "case.h"

static size_t unique(char** items, size_t count) {
  size_t kept = 1;
  for (size_t i = 1; i < count; i++) {
    if (strcmp(items[kept - 1], items[i]) == 0) continue;  // USE
    items[kept++] = items[i];                              // LOSS items[kept] | items[1]
  }
  return kept;
}

static char* copy(const char* text) {
  char* fresh = malloc(12);  // ALLOC
  strcpy(fresh, text);
  return fresh;
}

int main(void) {
  char* items[4] = {copy("a"), copy("a"), copy("b"), copy("c")};
  size_t kept = unique(items, (size_t)opaque(4));
  for (size_t i = 0; i < kept; i++) free(items[i]);
  return 0;
}
