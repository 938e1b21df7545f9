// CASE: A vector of raw pointers is cleared.
// EXPECT: lost 2 blocks 16 bytes
// CAUSE: holder-freed
#include <vector>

#include "../case.h"

std::vector<long*> all;

static void fill() {
  for (long i = 0; i < 2; i++) all.push_back(new long(i));  // ALLOC
}

static void drop_all() {
  std::vector<long*>().swap(all);  // LOSS
}

int main() {
  fill();
  drop_all();
}
