#include "common/unwind.h"

#include <unwind.h>

#include "common/memory.h"
#include "common/modules.h"
#include "common/process.h"
#include "common/stack_depot.h"
#include "common/stack_memo.h"
#include "common/threads.h"

namespace plumb::rt {

namespace {

struct Walk {
  uintptr_t addresses[kMaxDepth];
  const uintptr_t* places[kMaxDepth];  // where each was found
  bool plain;                          // all of them are return addresses on the stack
  unsigned count;
  unsigned limit;
  Range own;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  int before_call = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &before_call);
  if (address == 0) return _URC_END_OF_STACK;
  // Our wrappers around malloc, main and thread starts are not the program's.
  if (address >= walk.own.begin && address < walk.own.end) return _URC_NO_REASON;
  // A frame that a signal interrupted stands at the instruction itself; all
  // others behind their call. Readers step back by one for all.
  if (before_call != 0) ++address;
  const auto* place =
      reinterpret_cast<const uintptr_t*>(_Unwind_GetCFA(context) - sizeof(uintptr_t));
  if (before_call != 0 || *place != address) walk.plain = false;
  walk.places[walk.count] = place;
  walk.addresses[walk.count++] = address;
  return walk.count < walk.limit ? _URC_NO_REASON : _URC_END_OF_STACK;
}

uint32_t caller_stack(Inside& in, uintptr_t caller) {
  SlotUse slot(in);
  CallerStack& cached = slot->callers[(caller ^ (caller >> 7)) % kCallerCache];
  const uint32_t epoch = module_epoch();
  if (cached.caller != caller || cached.epoch != epoch) {
    cached.stack = stack_id(in, &caller, 1);
    cached.caller = caller;
    cached.epoch = epoch;
  }
  return cached.stack;
}

StackMemo* memos_of(Inside& in) {
  ThreadSlot* slot = in.thread().slot;
  if (slot == nullptr) return nullptr;  // shared with others
  if (slot->memos == nullptr) {
    slot->memos = static_cast<StackMemo*>(own_pages(kMemos * sizeof(StackMemo)));
  }
  return slot->memos;
}

void remember(StackMemo& memo, const Walk& walk, uintptr_t caller, uintptr_t frame,
              uint32_t stack) {
  if (!walk.plain || walk.count > kMemoDepth) return;
  memo.caller = caller;
  memo.frame = frame;
  memo.epoch = module_epoch();
  memo.stack = stack;
  memo.count = walk.count;
  for (unsigned i = 0; i < walk.count; ++i) {
    memo.places[i] = walk.places[i];
    memo.addresses[i] = walk.addresses[i];
  }
}

}  // namespace

uint32_t current_stack(Inside& in, uintptr_t caller) {
  return current_stack(in, caller, process().stack_depth);
}

uint32_t current_stack(Inside& in, uintptr_t caller, unsigned depth) {
  if (depth <= 1) return caller_stack(in, caller);
  // Ours, not the program's; but it lies at the same distance from it for each
  // of our entry points.
  return stack_from(in, caller, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), depth);
}

uint32_t stack_from(Inside& in, uintptr_t caller, uintptr_t frame, unsigned depth) {
  if (depth <= 1) return caller_stack(in, caller);
  StackMemo* memos = memos_of(in);
  StackMemo* memo = memos == nullptr ? nullptr : &memo_for(memos, caller, frame);
  if (memo != nullptr && is_same_stack(*memo, caller, frame, module_epoch())) return memo->stack;
  Walk walk;
  walk.count = 0;
  walk.plain = true;
  walk.limit = depth < kMaxDepth ? depth : kMaxDepth;
  walk.own = own_module();
  _Unwind_Backtrace(visit, &walk);
  if (walk.count == 0) return caller_stack(in, caller);
  const uint32_t stack = stack_id(in, walk.addresses, walk.count);
  if (memo != nullptr && stack != 0) remember(*memo, walk, caller, frame, stack);
  return stack;
}

}  // namespace plumb::rt
