// CASE: A move assignment overwrites what its target owned.
// EXPECT: lost 1 block 35 bytes
// CAUSE: overwritten
// GAP(run): holder - another variable had the last copy
// GAP(run, -O0, clang): cause, function, place - the pointer in the moved-from object goes last
// GAP(run, -O2): cause, function, place - the optimiser left only a register, which ends with its last use
// GAP(check): place, function - lost in the callee, reported at the call
#include "case.h"

class Text {
 public:
  explicit Text(size_t size) : data_(new char[size]) {  // WRAPPER
    data_[0] = 't';
  }
  Text(const Text&) = delete;
  Text& operator=(Text&& other) noexcept {
    data_ = other.data_;  // LOSS this->data_ | data_
    other.data_ = nullptr;
    return *this;
  }
  ~Text() { delete[] data_; }
  const char* data() const { return data_; }

 private:
  char* data_;
};

static void swap_in() {
  Text current(35);  // ALLOC
  Text next(70);
  touch(current.data());  // USE
  current = static_cast<Text&&>(next);
  touch(current.data());
}

int main() { swap_in(); }
