// CASE: The function frees what it takes.
// EXPECT: none
#include <stdarg.h>

#include "../case.h"

static void consume(int count, ...) {
  va_list list;
  va_start(list, count);
  for (int i = 0; i < count; i++) {
    char* text = va_arg(list, char*);
    touch(text);
    free(text);
  }
  va_end(list);
}

static char* make(void) { return malloc(31); }

int main(void) { consume(1, make()); }
