// Who called us.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "common/modules.h"
#include "common/process.h"
#include "common/threads.h"

namespace plumb::rt {

// The id of the current stack without this library's own frames, at most
// `depth`, or process().stack_depth, deep. `caller` is the return address of the function
// that the program called; a depth of one needs nothing else.
uint32_t current_stack(Inside& in, uintptr_t caller, unsigned depth);
inline uint32_t current_stack(Inside& in, uintptr_t caller) {
  return current_stack(in, caller, process().stack_depth);
}
// A function of ours that the program called: the return address, and the frame
// (__builtin_frame_address) that has it one word further up.
struct Called {
  uintptr_t caller;
  uintptr_t frame;
};
// The stack for an entry point. `from` is for functions that an entry point calls, and
// the address in it to which they return.
uint32_t stack_from(Inside& in, const Called& called, unsigned depth, uintptr_t from = 0);

// What stack_from would say, when it said so before; 0: ask it.
inline uint32_t remembered_stack(const ThreadSlot& slot, const Called& called) {
  if (slot.memos == nullptr) return 0;
  const StackMemo& memo = memo_for(slot.memos, called.caller, called.frame);
  return is_same_stack(memo, called.caller, called.frame, module_epoch()) ? memo.stack : 0;
}

}  // namespace plumb::rt
