// CASE: Each form of operator new: plain, nothrow, aligned, array.
// EXPECT(a): lost 1 block 41 bytes
// CAUSE(a): scope-end
// EXPECT(b): lost 1 block 43 bytes
// CAUSE(b): scope-end
// EXPECT(c): lost 1 block 64 bytes
// CAUSE(c): scope-end
#include <new>

#include "case.h"

struct alignas(64) Line {
  char bytes[64];
};

static void make() {
  char* plain = new char[static_cast<size_t>(opaque(41))];                   // ALLOC(a)
  char* nothrow = new (std::nothrow) char[static_cast<size_t>(opaque(43))];  // ALLOC(b)
  Line* aligned = new Line{{'l'}};                                           // ALLOC(c)
  plain[0] = nothrow[0] = 'n';
  touch(plain);    // USE(a)
  touch(nothrow);  // USE(b)
  touch(aligned);  // USE(c)
}  // LOSS(a) plain; LOSS(b) nothrow; LOSS(c) aligned

int main() { make(); }
