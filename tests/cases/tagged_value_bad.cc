// CASE: A bit field says that a value has no text any more; its destructor believes it.
// EXPECT: lost 1 block 37 bytes
// CAUSE: scope-end
// GAP(run, -O2, gcc): holder - the optimiser keeps the value in registers, without a name
#include <utility>

#include "case.h"

class Value {
 public:
  Value() {
    bits_.type = 0;
    bits_.owned = 0;
    value_.number = 0;
  }
  explicit Value(size_t size) {
    bits_.type = 4;
    bits_.owned = 1;
    value_.text = static_cast<char*>(malloc(size));  // WRAPPER
    value_.text[0] = 'v';
  }
  Value(Value&& other) : Value() { swap(other); }
  Value& operator=(Value&& other) {
    other.swap(*this);
    return *this;
  }
  ~Value() {
    switch (bits_.type) {
      case 4:
        if (bits_.owned) free(value_.text);
        break;
      default:
        break;
    }
  }
  void swap(Value& other) {
    std::swap(bits_, other.bits_);
    std::swap(value_, other.value_);
  }
  void drop_type() { bits_.type = 1; }
  const char* text() const { return value_.text; }

 private:
  struct {
    unsigned type : 8;
    unsigned owned : 1;
  } bits_;
  union {
    char* text;
    long number;
  } value_;
};

static void forget() {
  Value value(37);      // ALLOC
  touch(value.text());  // USE
  value.drop_type();
}  // LOSS value.value_.text | value.value_

int main() { forget(); }
