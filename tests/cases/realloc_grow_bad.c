// CASE: A buffer grows by realloc and is lost in its last size.
// EXPECT: lost 1 block 4096 bytes
// CAUSE: scope-end
#include "case.h"

static void collect(size_t limit) {
  size_t room = 16;
  char* data = malloc(room);
  while (room < limit) {
    room *= 2;
    data = realloc(data, room);  // ALLOC
    data[room - 1] = 'x';
  }
  touch(data);  // USE
}  // LOSS data

int main(void) { collect((size_t)opaque(4096)); }
