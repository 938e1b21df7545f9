// CASE: A function takes blocks over by variable arguments and keeps none.
// EXPECT: lost 1 block 31 bytes
// GAP(cc): holder, cause - the argument is the last to go, when the call is over
// CAUSE: scope-end
#include <stdarg.h>

#include "../case.h"

static void consume(int count, ...) {
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count; i++) {
    char* text = va_arg(list, char*);
    touch(text);  // USE
  }  // LOSS text
  va_end(list);
}

static char* make(void) {
  return malloc(31);  // ALLOC
}

int main(void) { consume(1, make()); }  // LOSS text
