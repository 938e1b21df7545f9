// CASE: A copy made by strdup is not freed.
// EXPECT: lost 1 block 6 bytes
// CAUSE: scope-end
#include "case.h"

static void remember(const char* word) {
  char* copy = strdup(word);  // ALLOC
  touch(copy);                // USE
}  // LOSS copy

int main(void) { remember("stone"); }
