// CASE: A pointer into the middle of a block keeps it alive.
// EXPECT: forgotten 1 block 64 bytes
#include "case.h"

char* g_cursor;

static void open_text(void) {
  char* text = malloc(64);  // ALLOC
  memset(text, 'x', 64);
  g_cursor = text + 20;
}

int main(void) {
  open_text();
  touch(g_cursor);
}
