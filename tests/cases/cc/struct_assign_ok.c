// CASE: The buffer is freed before the assignment.
// EXPECT: none
#include "../case.h"

struct buffer {
  char* data;
  long size;
};
struct buffer current;

static void adopt(struct buffer next) {
  free(current.data);
  current = next;
}

int main(void) {
  struct buffer first = {malloc(44), 44};
  touch(first.data);
  adopt(first);
  first.data = NULL;
  struct buffer none = {NULL, 0};
  adopt(none);
}
