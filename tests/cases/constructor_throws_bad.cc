// CASE: A constructor throws after it filled a raw member; no destructor will run.
// EXPECT: lost 1 block 48 bytes
// CAUSE: escaped-throw
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
