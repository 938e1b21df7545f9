// CASE: A std::thread's function deletes its object.
// EXPECT: none
// FLAGS: -pthread
#include <thread>

#include "case.h"

static void work(long value) {
  long* pair = new long[2]{value, value};
  touch(pair);
  delete[] pair;
}

int main() {
  std::thread worker(work, opaque(4));
  worker.join();
}
