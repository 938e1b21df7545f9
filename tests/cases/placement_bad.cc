// CASE: An object made by placement new loses its memory without being destroyed.
// EXPECT: lost 1 block 101 bytes
// CAUSE: holder-freed
// GAP(check): found - objects in storage of another type are not followed
#include <new>
#include <string>

#include "case.h"

static void place() {
  void* memory = malloc(sizeof(std::string));
  auto* text = new (memory) std::string(100, 'p');  // ALLOC
  touch(text->data());                              // USE
  free(memory);                                     // LOSS
}

int main() { place(); }
