// CASE: A structure is assigned as a whole over one that held a buffer.
// EXPECT: lost 1 block 44 bytes
// CAUSE: overwritten
#include "../case.h"

struct buffer {
  char* data;
  long size;
};
struct buffer current;

static void adopt(struct buffer next) {
  current = next;  // LOSS current.data
}

int main(void) {
  struct buffer first = {malloc(44), 44};  // ALLOC
  touch(first.data);                       // USE
  adopt(first);
  first.data = NULL;
  struct buffer none = {NULL, 0};
  adopt(none);
}
