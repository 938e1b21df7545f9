// CASE: A move assignment takes the pointer over and forgets its own.
// EXPECT: lost 1 block 28 bytes
// CAUSE: overwritten
#include <cstddef>
#include <utility>

#include "../case.h"

class Buffer {
 public:
  explicit Buffer(std::size_t size) : data_(new char[size]) { touch(data_); }  // ALLOC
  Buffer(const Buffer&) = delete;
  Buffer& operator=(Buffer&& other) noexcept {
    data_ = std::exchange(other.data_, nullptr);  // LOSS this->data_
    return *this;
  }
  ~Buffer() { delete[] data_; }

 private:
  char* data_;
};

static Buffer make_small() {
  return Buffer(28);
}

int main() {
  Buffer one = make_small();
  Buffer two(90);
  one = std::move(two);
}
