// CASE: A key of a map that is there already gets another pointer.
// EXPECT: lost 1 block 52 bytes
// CAUSE: overwritten
// GAP(check): found - what lies in a map is not followed
#include <map>

#include "case.h"

static std::map<long, char*> table;

static void store(long key, size_t size) {
  char* value = new char[size];  // ALLOC
  value[0] = 'v';                // USE
  table[key] = value;            // LOSS
}

int main() {
  store(opaque(7), 52);
  store(opaque(8), 53);
  store(opaque(7), 54);
  for (auto& [key, value] : table) delete[] value;
  table.clear();
}
