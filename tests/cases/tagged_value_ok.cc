// CASE: Bit fields say whether a value owns its text; moved values free what they have left.
// EXPECT: none
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
    value_.text = static_cast<char*>(malloc(size));
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

static void pass_on(Value* to) {
  *to = Value(37);
  touch(to->text());
  *to = Value(41);
  Value taken(std::move(*to));
  touch(taken.text());
}

int main() {
  Value kept;
  pass_on(&kept);
}
