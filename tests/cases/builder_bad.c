// CASE: A string builder is thrown away unfinished.
// EXPECT: lost 1 block 128 bytes
// CAUSE: scope-end
// GAP(check): found - the replay of the path finds no way to the loss
#include "case.h"

struct Builder {
  char* data;
  size_t length;
  size_t room;
};

static void append(struct Builder* builder, const char* text) {
  size_t length = strlen(text);
  while (builder->length + length + 1 > builder->room) {
    builder->room = builder->room ? builder->room * 2 : 16;
    builder->data = realloc(builder->data, builder->room);  // ALLOC
  }
  memcpy(builder->data + builder->length, text, length + 1);
  builder->length += length;
}

static int render(long lines) {
  struct Builder page = {0};
  for (long i = 0; i < lines; i++) append(&page, "a line of text ");
  touch(page.data);          // USE
  if (lines > 5) return -1;  // LOSS page.data
  free(page.data);
  return 0;
}

int main(void) { return render(opaque(6)) == -1 ? 0 : 1; }
