// CASE: A constructor throws, and the member that owns the block frees it.
// EXPECT: none
#include <memory>
#include <stdexcept>

#include "case.h"

class Buffer {
 public:
  explicit Buffer(long size) : data_(new char[48]) {
    data_[0] = 'd';
    touch(data_.get());
    if (size < 0) throw std::invalid_argument("no negative size");
  }

 private:
  std::unique_ptr<char[]> data_;
};

int main() {
  try {
    Buffer buffer(opaque(-1));
  } catch (const std::invalid_argument&) {
    return 0;
  }
  return 1;
}
