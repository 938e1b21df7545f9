// CASE: A function that takes ownership refuses on one path, and its caller does not notice.
// EXPECT: lost 1 block 46 bytes
// CAUSE: scope-end
// GAP(run): use - only accesses are uses; passing a pointer on is not seen
#include "case.h"

char* g_slot;

static int store(char* text) {
  if (g_slot) return -1;
  g_slot = text;
  return 0;
}

static void send(size_t size) {
  char* text = malloc(size);  // WRAPPER
  text[0] = 't';
  touch(text);
  store(text);  // USE
}  // LOSS text

int main(void) {
  send(23);
  send(46);  // ALLOC
  free(g_slot);
}
