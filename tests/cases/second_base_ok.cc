// CASE: A pointer to an object's second base keeps it alive.
// EXPECT: forgotten 1 block 32 bytes
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

int main() {
  open_file();
  touch(g_sized);
}
