// CASE: A global is given a new block without freeing the old one; the new one stays.
// EXPECT(a): lost 1 block 16 bytes
// CAUSE(a): overwritten
// EXPECT(b): forgotten 1 block 32 bytes
// GAP(check): place(a), function(a) - lost in the callee, reported at the call
#include "case.h"

char* g_config;

static void load_first(void) {
  g_config = malloc(16);  // ALLOC(a)
  g_config[0] = '1';
}

static void load_second(void) {
  g_config = malloc(32);  // ALLOC(b); LOSS(a) g_config
  g_config[0] = '2';
}

int main(void) {
  load_first();
  touch(g_config);  // USE(a)
  load_second();
  touch(g_config);
}
