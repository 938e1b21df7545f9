// CASE: What a map's value points to is deleted before the entry is erased.
// EXPECT: none
#include <map>

#include "case.h"

static void run() {
  std::map<int, long*> table;
  for (int i = 0; i < 3; i++) table[i] = new long(opaque(i));
  touch(table[1]);
  delete table[1];
  table.erase(1);
  for (auto& [key, value] : table) delete value;
}

int main() { run(); }
