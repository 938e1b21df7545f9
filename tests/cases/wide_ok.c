// CASE: A wide string's copy is freed.
// EXPECT: none
// FLAGS: -D_GNU_SOURCE
#include <wchar.h>

#include "case.h"

static void remember(const wchar_t* word) {
  wchar_t* copy = wcsdup(word);
  touch(copy);
  free(copy);
}

int main(void) { remember(L"stone"); }
