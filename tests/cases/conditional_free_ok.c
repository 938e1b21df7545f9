// CASE: A flag says which text must be freed: the small buffer need not.
// EXPECT: none
#include "case.h"

static void print(const char* name, long upper) {
  char small[8] = "short";
  char* text = small;
  int owned = 0;
  if (upper) {
    text = malloc(26);
    strcpy(text, name);
    owned = 1;
  }
  touch(text);
  if (owned) free(text);
}

int main(void) {
  print("one", opaque(0));
  print("two", opaque(1));
  print("three", opaque(2));
}
