// CASE: A copy made by strdup is freed.
// EXPECT: none
#include "case.h"

static void remember(const char* word) {
  char* copy = strdup(word);
  touch(copy);
  free(copy);
}

int main(void) { remember("stone"); }
