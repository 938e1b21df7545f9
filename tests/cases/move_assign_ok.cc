// CASE: A move assignment frees what its target owned.
// EXPECT: none
#include "case.h"

class Text {
 public:
  explicit Text(size_t size) : data_(new char[size]) { data_[0] = 't'; }
  Text(const Text&) = delete;
  Text& operator=(Text&& other) noexcept {
    delete[] data_;
    data_ = other.data_;
    other.data_ = nullptr;
    return *this;
  }
  ~Text() { delete[] data_; }
  const char* data() const { return data_; }

 private:
  char* data_;
};

static void swap_in() {
  Text current(35);
  Text next(70);
  touch(current.data());
  current = static_cast<Text&&>(next);
  touch(current.data());
}

int main() { swap_in(); }
