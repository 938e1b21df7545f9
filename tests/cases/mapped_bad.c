// CASE: The mapping that held the only pointer is unmapped.
// EXPECT: lost 1 block 54 bytes
// CAUSE: unmapped
// GAP(run): holder - the debug information has no variable there
// GAP(check): found - what mapped memory holds is not followed
#include <sys/mman.h>

#include "case.h"

char** g_page;

static void set_up(void) {
  g_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_page[7] = malloc(54);  // ALLOC
  g_page[7][0] = 'm';
  touch(g_page[7]);  // USE
}

static void tear_down(void) {
  munmap(g_page, 4096);  // LOSS g_page[7]
}

int main(void) {
  set_up();
  tear_down();
}
