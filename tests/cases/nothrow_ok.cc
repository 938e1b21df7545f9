// CASE: Each form of operator new has its delete.
// EXPECT: none
#include <new>

#include "case.h"

struct alignas(64) Line {
  char bytes[64];
};

static void make() {
  char* plain = new char[static_cast<size_t>(opaque(41))];
  char* nothrow = new (std::nothrow) char[static_cast<size_t>(opaque(43))];
  Line* aligned = new Line{{'l'}};
  plain[0] = nothrow[0] = 'n';
  touch(plain);
  touch(nothrow);
  touch(aligned);
  delete[] plain;
  delete[] nothrow;
  delete aligned;
}

int main() { make(); }
