// CASE: An array of objects with destructors, held by a global behind its count.
// EXPECT(a): forgotten 1 block 104 bytes
// EXPECT(b): forgotten 3 blocks 300 bytes
#include <string>

#include "case.h"

std::string* g_texts;

static void make(long count) {
  g_texts = new std::string[static_cast<size_t>(count)];                             // ALLOC(a)
  for (long i = 0; i < count; i++) g_texts[i].assign(static_cast<size_t>(99), 'x');  // ALLOC(b)
  touch(g_texts);
}

int main() { make(opaque(3)); }
