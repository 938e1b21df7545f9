// CASE: A buffer grows by realloc and is freed in its last size.
// EXPECT: none
#include "case.h"

static void collect(size_t limit) {
  size_t room = 16;
  char* data = malloc(room);
  while (room < limit) {
    room *= 2;
    data = realloc(data, room);
    data[room - 1] = 'x';
  }
  touch(data);
  free(data);
}

int main(void) { collect((size_t)opaque(4096)); }
