// CASE: A map's entry is erased without deleting what its value points to.
// EXPECT: lost 1 block 8 bytes
// CAUSE: holder-freed
// GAP(cc): holder - does not name elements of containers
// GAP(run): holder - the debug information has no variable there
// GAP(check): found - an element that is erased still counts as held
#include <map>

#include "case.h"

static void run() {
  std::map<int, long*> table;
  for (int i = 0; i < 3; i++) table[i] = new long(opaque(i));  // ALLOC
  touch(table[1]);                                             // USE
  table.erase(1);                                              // LOSS table[1]
  for (auto& [key, value] : table) delete value;
}

int main() { run(); }
