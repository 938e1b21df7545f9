// CASE: The only pointer to an object is to its second base; then it goes, too.
// EXPECT: lost 1 block 32 bytes
// CAUSE: overwritten
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

struct Named {
  virtual ~Named() = default;
  long name = 1;
};
struct Sized {
  virtual ~Sized() = default;
  long size = 2;
};
struct File : Named, Sized {};

Sized* g_sized;

static void open_file() {
  g_sized = new File;  // ALLOC
}

static void close_file() {
  g_sized = nullptr;  // LOSS g_sized
}

int main() {
  open_file();
  touch(g_sized);  // USE
  close_file();
}
