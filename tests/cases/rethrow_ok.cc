// CASE: A handler cleans up both objects and throws on.
// EXPECT: none
#include <stdexcept>

#include "case.h"

static void fail(long value) {
  if (value) throw std::runtime_error("failed");
}

static void handle(long value) {
  char* first = new char[28];
  char* second = new char[29];
  first[0] = second[0] = 'x';
  touch(first);
  touch(second);
  try {
    fail(value);
  } catch (...) {
    delete[] first;
    delete[] second;
    throw;
  }
  delete[] first;
  delete[] second;
}

int main() {
  try {
    handle(opaque(1));
  } catch (const std::exception&) {
    return 0;
  }
  return 1;
}
