// CASE: A function that takes ownership refuses on one path, and its caller frees then.
// EXPECT: none
#include "case.h"

char* g_slot;

static int store(char* text) {
  if (g_slot) return -1;
  g_slot = text;
  return 0;
}

static void send(size_t size) {
  char* text = malloc(size);
  text[0] = 't';
  touch(text);
  if (store(text) != 0) free(text);
}

int main(void) {
  send(23);
  send(46);
  free(g_slot);
}
