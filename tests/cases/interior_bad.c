// CASE: The only pointer left is into the middle of a block; then it goes, too.
// EXPECT: lost 1 block 64 bytes
// CAUSE: overwritten
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

char* g_cursor;

static void open_text(void) {
  char* text = malloc(64);  // ALLOC
  memset(text, 'x', 64);
  g_cursor = text + 20;
}

static void close_text(void) {
  g_cursor = NULL;  // LOSS g_cursor
}

int main(void) {
  open_text();
  touch(g_cursor);  // USE
  close_text();
}
