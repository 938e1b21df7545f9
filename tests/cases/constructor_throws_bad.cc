// CASE: A constructor throws after it filled a raw member; no destructor will run.
// EXPECT: lost 1 block 48 bytes
// CAUSE: escaped-throw
// GAP(run): holder - another variable had the last copy
// GAP(run, -O0): cause, function, place - the object that was not made keeps the pointer in its place on the stack
// GAP(run, -O2, clang): cause - in the optimised code the variable is part of the function that it was inlined into
// GAP(run, -O2, clang): function, place - the object that was not made keeps the pointer in its place on the stack
// GAP(check): place, function - what is thrown out of a constructor is not followed to the loss
#include <stdexcept>

#include "case.h"

class Buffer {
 public:
  explicit Buffer(long size) {
    data_ = new char[48];  // ALLOC
    data_[0] = 'd';
    touch(data_);                                                   // USE
    if (size < 0) throw std::invalid_argument("no negative size");  // LOSS this->data_ | data_
  }
  ~Buffer() { delete[] data_; }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 private:
  char* data_;
};

int main() {
  try {
    Buffer buffer(opaque(-1));
  } catch (const std::invalid_argument&) {
    return 0;
  }
  return 1;
}
