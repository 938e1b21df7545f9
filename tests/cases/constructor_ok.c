// CASE: A block is allocated before main and freed after it.
// EXPECT: none
#include "case.h"

char* g_table;

__attribute__((constructor)) static void set_up(void) {
  g_table = malloc(36);
  g_table[0] = 't';
}

__attribute__((destructor)) static void tear_down(void) { free(g_table); }

int main(void) { touch(g_table); }
