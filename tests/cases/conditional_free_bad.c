// CASE: The flag that says "must be freed" is not set on the path that allocates.
// EXPECT: lost 1 block 26 bytes
// CAUSE: scope-end
#include "case.h"

static void print(const char* name, long upper) {
  char small[8] = "short";
  char* text = small;
  int owned = 0;
  if (upper) {
    text = malloc(26);  // ALLOC
    strcpy(text, name);
    owned = upper > 1;
  }
  touch(text);  // USE
  if (owned) free(text);
}  // LOSS text

int main(void) {
  print("one", opaque(0));
  print("two", opaque(1));
  print("three", opaque(2));
}
