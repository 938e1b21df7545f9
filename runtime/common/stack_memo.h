// Remembers stacks by where their return addresses lie.
//
// Unwinding is slow; comparing words is not. A stack that was unwound once is
// kept with the places of its return addresses. When the same caller comes again
// with the same stack pointer, and every one of those places still has the same
// address, it is the same stack.
//
// Limit: a place may hold the right address although no frame is there any more
// (a function with a frame of varying size). Then an outer part of the stack is
// an older one of the same caller and depth.
#pragma once

#include <stdint.h>

namespace plumb::rt {

inline constexpr unsigned kMemoDepth = 30;  // deeper stacks are not kept

struct Return {
  const uintptr_t* place;
  uintptr_t address;
};

struct StackMemo {
  uintptr_t caller;
  uintptr_t frame;  // of the wrapper that the program called
  uint32_t epoch;
  uint32_t stack;
  uint32_t count;
  uint32_t is_whole;  // nothing was left out at the outer end
  Return returns[kMemoDepth];
};
inline constexpr unsigned kMemos = 64;  // per thread

inline StackMemo& memo_for(StackMemo* memos, uintptr_t caller, uintptr_t frame) {
  const uint64_t hash = (caller ^ (frame << 7)) * 0x9e3779b97f4a7c15u;
  return memos[hash >> 58];
}
static_assert(kMemos == 1u << (64 - 58));

inline bool is_same_stack(const StackMemo& memo, uintptr_t caller, uintptr_t frame,
                          uint32_t epoch) {
  if (memo.caller != caller || memo.frame != frame || memo.epoch != epoch) return false;
  for (uint32_t i = 0; i < memo.count; ++i) {
    if (*memo.returns[i].place != memo.returns[i].address) return false;
  }
  return true;
}

}  // namespace plumb::rt
