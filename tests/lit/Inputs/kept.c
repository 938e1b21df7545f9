// Keeps a block in a member of a global until the end.
#include <stdlib.h>

struct Cache {
  long uses;
  char* entry;
};
struct Cache g_cache;

static void fill(void) {
  g_cache.entry = malloc(24);
  g_cache.entry[0] = 'e';
}

static void look(void) { g_cache.uses += g_cache.entry[0]; }

int main(void) {
  fill();
  look();
  return g_cache.uses == 0;
}
