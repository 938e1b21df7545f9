// CASE: What a key of a map had is deleted before it gets another pointer.
// EXPECT: none
#include <map>

#include "case.h"

static std::map<long, char*> table;

static void store(long key, size_t size) {
  char* value = new char[size];
  value[0] = 'v';
  delete[] table[key];
  table[key] = value;
}

int main() {
  store(opaque(7), 52);
  store(opaque(8), 53);
  store(opaque(7), 54);
  for (auto& [key, value] : table) delete[] value;
  table.clear();
}
