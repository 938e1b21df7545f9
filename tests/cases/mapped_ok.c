// CASE: A pointer in memory that the program mapped keeps its block alive.
// EXPECT: forgotten 1 block 54 bytes
// GAP(lsan): false-alarm - mappings that the program makes are no roots there
#include <sys/mman.h>

#include "case.h"

char** g_page;

static void set_up(void) {
  g_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_page[7] = malloc(54);  // ALLOC
  g_page[7][0] = 'm';
}

int main(void) {
  set_up();
  touch(g_page[7]);
}
