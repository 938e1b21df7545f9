// Numbers and paths as text, into buffers of the caller's.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

// A path that is put together from pieces; what does not fit is cut off.
class PathText {
 public:
  PathText& add(const char* text) {
    while (*text != 0 && used_ + 1 < sizeof text_) text_[used_++] = *text++;
    text_[used_] = 0;
    return *this;
  }
  PathText& add(uint64_t number) {
    char digits[24];
    size_t count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0 && used_ + 1 < sizeof text_) text_[used_++] = digits[--count];
    text_[used_] = 0;
    return *this;
  }
  const char* get() const { return text_; }

 private:
  char text_[128] = {};
  size_t used_ = 0;
};

// Reads digits from `at` on and moves it behind them.
inline uint64_t take_decimal(const char*& at) {
  uint64_t value = 0;
  while (*at >= '0' && *at <= '9') value = value * 10 + static_cast<uint64_t>(*at++ - '0');
  return value;
}
inline uint64_t take_hex(const char*& at) {
  uint64_t value = 0;
  for (;; ++at) {
    if (*at >= '0' && *at <= '9')
      value = value * 16 + static_cast<uint64_t>(*at - '0');
    else if (*at >= 'a' && *at <= 'f')
      value = value * 16 + static_cast<uint64_t>(*at - 'a' + 10);
    else
      return value;
  }
}

// Behind `prefix` in `text`, or null when it does not start with it.
inline const char* after(const char* text, const char* prefix) {
  while (*prefix != 0) {
    if (*text++ != *prefix++) return nullptr;
  }
  return text;
}

// At most size - 1 characters, always ended by 0.
inline void copy_text(char* to, size_t size, const char* from) {
  size_t used = 0;
  while (used + 1 < size && from[used] != 0) {
    to[used] = from[used];
    ++used;
  }
  to[used] = 0;
}

}  // namespace plumb::rt
