// CASE: What a vector of raw pointers holds is deleted before it is cleared.
// EXPECT: none
#include <vector>

#include "case.h"

static void collect(long count) {
  std::vector<long*> numbers;
  numbers.reserve(8);
  for (long i = 0; i < count; i++) numbers.push_back(new long(i));
  for (long* number : numbers) touch(number);
  for (long* number : numbers) delete number;
  numbers.clear();
}

int main() { collect(opaque(4)); }
