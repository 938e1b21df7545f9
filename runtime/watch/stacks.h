// Stacks of the program's threads, taken with what the thread remembers of earlier
// ones (common/stack_memo.h): most are known, and unwinding by tables is slow.
#pragma once

#include "common/threads.h"
#include "common/unwind.h"

namespace plumb::rt {

__attribute__((always_inline)) inline uint32_t own_stack(Inside& in, uintptr_t caller,
                                                         unsigned depth) {
  if (__builtin_expect(in.thread().slot == nullptr, 0)) SlotUse attached(in);
  return current_stack(in, caller, depth);
}
__attribute__((always_inline)) inline uint32_t own_stack(Inside& in, uintptr_t caller) {
  return own_stack(in, caller, process().stack_depth);
}

}  // namespace plumb::rt
