// CASE: The move assignment frees its own first.
// EXPECT: none
#include <cstddef>
#include <utility>

#include "../case.h"

class Buffer {
 public:
  explicit Buffer(std::size_t size) : data_(new char[size]) { touch(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(Buffer&& other) noexcept {
    delete[] data_;
    data_ = std::exchange(other.data_, nullptr);
    return *this;
  }
  ~Buffer() { delete[] data_; }

 private:
  char* data_;
};

static Buffer make_small() { return Buffer(28); }

int main() {
  Buffer one = make_small();
  Buffer two(90);
  one = std::move(two);
}
