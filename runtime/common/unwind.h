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
// The same for an entry point that knows its own frame; `from` is an address in it,
// from which the return address to the caller is always as far from the frame.
uint32_t stack_from(Inside& in, uintptr_t caller, uintptr_t frame, unsigned depth, uintptr_t from);

// What stack_from would say, when it said so before; 0: ask it.
inline uint32_t remembered_stack(const ThreadSlot& slot, uintptr_t caller, uintptr_t frame) {
  if (slot.memos == nullptr) return 0;
  const StackMemo& memo = memo_for(slot.memos, caller, frame);
  return is_same_stack(memo, caller, frame, module_epoch()) ? memo.stack : 0;
}

}  // namespace plumb::rt
