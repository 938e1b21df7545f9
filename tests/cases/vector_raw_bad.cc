// CASE: A vector of raw pointers is cleared; its memory goes with the vector.
// EXPECT: lost 4 blocks 32 bytes
// CAUSE: holder-freed
// GAP(cc): holder - does not name elements of containers
// GAP(run): holder - the debug information has no variable there
// GAP(check): place, holder - the elements go when the vector is cleared, and are not named
#include <vector>

#include "case.h"

static void collect(long count) {
  std::vector<long*> numbers;
  numbers.reserve(8);
  for (long i = 0; i < count; i++) numbers.push_back(new long(i));  // ALLOC
  for (long* number : numbers) touch(number);                       // USE
  numbers.clear();
}  // LOSS numbers[0] | numbers[1] | numbers[2] | numbers[3]

int main() { collect(opaque(4)); }
