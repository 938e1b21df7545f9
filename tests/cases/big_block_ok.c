// CASE: A large block holds the only pointer to a small one, and a global holds it.
// EXPECT(a): forgotten 1 block 5000000 bytes
// EXPECT(b): forgotten 1 block 25 bytes
#include "case.h"

char** g_image;

static void load(void) {
  g_image = malloc(5000000);     // ALLOC(a)
  g_image[600000] = malloc(25);  // ALLOC(b)
  g_image[600000][0] = 'i';
}

int main(void) {
  load();
  touch(g_image[600000]);
}
