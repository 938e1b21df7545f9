#include "core/leak.h"

#include <limits>

#include "core/allocator_names.h"

namespace plumb {

namespace {

// The figures of a report can be anybody's: a sum that wrapped around would
// look like a small one.
std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  const bool overflow = __builtin_add_overflow(a, b, &sum);
  return overflow ? std::numeric_limits<std::uint64_t>::max() : sum;
}

}  // namespace

Count& Count::operator+=(const Count& other) {
  blocks = saturating_sum(blocks, other.blocks);
  bytes = saturating_sum(bytes, other.bytes);
  return *this;
}

Count Leak::total() const {
  Count sum = direct;
  sum += indirect;
  return sum;
}

const Frame* user_frame(const Stack& stack) {
  for (const Frame& frame : stack) {
    if (!is_allocator_frame(frame)) return &frame;
  }
  // Only the allocator is known: its outermost frame is nearest to the user.
  return stack.empty() ? nullptr : &stack.back();
}

}  // namespace plumb
