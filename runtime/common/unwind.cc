#include "common/unwind.h"

#include <unwind.h>

#include "common/memory.h"
#include "common/modules.h"
#include "common/process.h"
#include "common/stack_depot.h"
#include "common/threads.h"

namespace plumb::rt {

namespace {

struct Walk {
  uintptr_t addresses[kMaxDepth];
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

}  // namespace

uint32_t current_stack(Inside& in, uintptr_t caller) {
  return current_stack(in, caller, process().stack_depth);
}

uint32_t current_stack(Inside& in, uintptr_t caller, unsigned depth) {
  if (depth <= 1) return caller_stack(in, caller);
  Walk walk;
  walk.count = 0;
  walk.limit = depth < kMaxDepth ? depth : kMaxDepth;
  walk.own = own_module();
  _Unwind_Backtrace(visit, &walk);
  if (walk.count == 0) return caller_stack(in, caller);
  return stack_id(in, walk.addresses, walk.count);
}

}  // namespace plumb::rt
