// CASE: An exception leaves the function, whose unique_ptr frees.
// EXPECT: none
#include <memory>
#include <stdexcept>

#include "case.h"

static void check(long value) {
  if (value > 2) throw std::runtime_error("too large");
}

static void handle(long value) {
  std::unique_ptr<char[]> buffer(new char[40]);
  buffer[0] = 'b';
  touch(buffer.get());
  check(value);
}

int main() {
  try {
    handle(opaque(3));
  } catch (const std::exception&) {
    return 0;
  }
  return 1;
}
