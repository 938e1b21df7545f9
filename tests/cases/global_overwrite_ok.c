// CASE: A global is freed before it gets a new block, which stays to the end.
// EXPECT: forgotten 1 block 32 bytes
#include "case.h"

char* g_config;

static void load_first(void) {
  g_config = malloc(16);
  g_config[0] = '1';
}

static void load_second(void) {
  free(g_config);
  g_config = malloc(32);  // ALLOC
  g_config[0] = '2';
}

int main(void) {
  load_first();
  touch(g_config);
  load_second();
  touch(g_config);
}
