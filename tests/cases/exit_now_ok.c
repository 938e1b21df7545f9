// CASE: The program ends by _exit while a global holds a block.
// EXPECT: forgotten 1 block 84 bytes
// STATUS: 3
#include <unistd.h>

#include "case.h"

char* g_text;

static void keep(void) {
  g_text = malloc(84);  // ALLOC
  g_text[0] = 't';
  touch(g_text);
}

int main(void) {
  keep();
  _exit((int)opaque(3));
}
