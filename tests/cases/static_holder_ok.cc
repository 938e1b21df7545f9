// CASE: A static vector of raw pointers holds blocks until it is destroyed at exit.
// EXPECT: forgotten 3 blocks 24 bytes
// GAP(run): false-alarm, forgotten - looks only after the destructors of static objects
// GAP(memcheck): false-alarm, forgotten - looks only after the destructors of static objects
// GAP(lsan): false-alarm - looks only after the destructors of static objects
// GAP(watch): false-alarm - looks only after the destructors of static objects
// GAP(cc): false-alarm, forgotten - looks only after the destructors of static objects
#include <vector>

#include "case.h"

std::vector<long*> g_numbers;

static void fill(long count) {
  for (long i = 0; i < count; i++) g_numbers.push_back(new long(i));  // ALLOC
}

int main() {
  fill(opaque(3));
  touch(g_numbers.back());
}
