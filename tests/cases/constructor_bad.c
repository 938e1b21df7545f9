// CASE: A block is allocated before main and overwritten after it.
// EXPECT: lost 1 block 36 bytes
// CAUSE: overwritten
// GAP(check): found - what a global holds is not followed
#include "case.h"

char* g_table;

__attribute__((constructor)) static void set_up(void) {
  g_table = malloc(36);  // ALLOC
  g_table[0] = 't';
}

__attribute__((destructor)) static void tear_down(void) {
  g_table = NULL;  // LOSS g_table
}

int main(void) {
  touch(g_table);  // USE
}
