// CASE: A block so large that it is mapped by itself is lost.
// EXPECT: lost 1 block 5000000 bytes
// CAUSE: scope-end
#include "case.h"

static void load(void) {
  char* image = malloc(5000000);  // ALLOC
  image[0] = image[4999999] = 'i';
  touch(image);  // USE
}  // LOSS image

int main(void) { load(); }
