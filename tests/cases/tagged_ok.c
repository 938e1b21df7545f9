// CASE: A pointer that carries a flag in its lowest bit keeps its block alive.
// EXPECT: forgotten 1 block 32 bytes
#include "case.h"

uintptr_t g_tagged;

static void set_up(void) {
  long* node = malloc(32);  // ALLOC
  node[0] = 5;
  g_tagged = (uintptr_t)node | 1;
}

int main(void) {
  set_up();
  touch((void*)(g_tagged & ~(uintptr_t)1));
}
