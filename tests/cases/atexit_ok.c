// CASE: A handler of atexit frees what the global holds.
// EXPECT: none
#include "case.h"

char* g_cache;

static void shut_down(void) { free(g_cache); }

int main(void) {
  atexit(shut_down);
  g_cache = malloc(28);
  g_cache[0] = 'c';
  touch(g_cache);
}
