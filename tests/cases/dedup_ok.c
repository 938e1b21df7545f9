// CASE: Equal strings are freed before the others are moved up.
// EXPECT: none
#include "case.h"

static size_t unique(char** items, size_t count) {
  size_t kept = 1;
  for (size_t i = 1; i < count; i++) {
    if (strcmp(items[kept - 1], items[i]) == 0) {
      free(items[i]);
      continue;
    }
    items[kept++] = items[i];
  }
  return kept;
}

static char* copy(const char* text) {
  char* fresh = malloc(12);
  strcpy(fresh, text);
  return fresh;
}

int main(void) {
  char* items[4] = {copy("a"), copy("a"), copy("b"), copy("c")};
  size_t kept = unique(items, (size_t)opaque(4));
  for (size_t i = 0; i < kept; i++) free(items[i]);
  return 0;
}
