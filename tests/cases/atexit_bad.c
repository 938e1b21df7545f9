// CASE: A handler of atexit clears the global that held a block.
// EXPECT: lost 1 block 28 bytes
// CAUSE: overwritten
// GAP(check): found - what runs after main is not followed
#include "case.h"

char* g_cache;

static void shut_down(void) {
  g_cache = NULL;  // LOSS g_cache
}

int main(void) {
  atexit(shut_down);
  g_cache = malloc(28);  // ALLOC
  g_cache[0] = 'c';
  touch(g_cache);  // USE
}
