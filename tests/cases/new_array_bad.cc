// CASE: An array of objects with destructors is lost; its pointer is behind the count.
// EXPECT: lost 1 block 104 bytes, indirect 3 blocks 300 bytes
// CAUSE: scope-end
// GAP(run, -O2): holder - the debug information has no variable there
#include <string>

#include "case.h"

static void make(long count) {
  std::string* texts = new std::string[static_cast<size_t>(count)];                // ALLOC
  for (long i = 0; i < count; i++) texts[i].assign(static_cast<size_t>(99), 'x');  // ALLOC
  touch(texts);                                                                    // USE
}  // LOSS texts

int main() { make(opaque(3)); }
