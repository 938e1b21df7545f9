// CASE: A std::thread's function loses an object.
// EXPECT: lost 1 block 16 bytes
// CAUSE: scope-end
// FLAGS: -pthread
// GAP(run, -O2): use - a tail call leaves no frame of the function behind
#include <thread>

#include "case.h"

static void work(long value) {
  long* pair = new long[2]{value, value};  // ALLOC
  touch(pair);                             // USE
}  // LOSS pair

int main() {
  std::thread worker(work, opaque(4));
  worker.join();
}
