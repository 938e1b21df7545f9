// CASE: A structure with a buffer comes back by value, and the buffer is freed.
// EXPECT: none
#include "case.h"

struct Text {
  size_t length;
  char* data;
};

static struct Text make_text(const char* from) {
  struct Text text;
  text.length = strlen(from);
  text.data = malloc(30);
  strcpy(text.data, from);
  touch(text.data);
  return text;
}

static size_t measure(const char* from) {
  struct Text text = make_text(from);
  free(text.data);
  return text.length;
}

int main(void) { return measure("something") == (size_t)opaque(9) ? 0 : 1; }
