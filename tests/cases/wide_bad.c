// CASE: A wide string's copy is not freed.
// EXPECT: lost 1 block 24 bytes
// CAUSE: scope-end
// FLAGS: -D_GNU_SOURCE
#include <wchar.h>

#include "case.h"

static void remember(const wchar_t* word) {
  wchar_t* copy = wcsdup(word);  // ALLOC
  touch(copy);                   // USE
}  // LOSS copy

int main(void) { remember(L"stone"); }
