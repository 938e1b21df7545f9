#include "compiled/stacks.h"

#include <unwind.h>

#include "common/memory.h"
#include "common/modules.h"
#include "common/process.h"
#include "common/stack_depot.h"
#include "common/trace_file.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

namespace {

struct Walk {
  uintptr_t addresses[kMaxDepth];
  uintptr_t places[kMaxDepth];
  unsigned count;
  unsigned limit;
  Range own;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  int before_call = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &before_call);
  if (address == 0) return _URC_END_OF_STACK;
  if (address >= walk.own.begin && address < walk.own.end) return _URC_NO_REASON;
  // The frame that was called from here begins above its return address.
  walk.places[walk.count] = before_call != 0 ? 0 : _Unwind_GetCFA(context) - sizeof(uintptr_t);
  if (before_call != 0) ++address;
  walk.addresses[walk.count++] = address;
  return walk.count < walk.limit ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// False when the walk cannot be checked later.
bool remember(SeenStack& seen, const Walk& walk, uintptr_t frame) {
  if (walk.count > kCachedDepth) return false;
  for (unsigned i = 0; i < walk.count; ++i) {
    const uintptr_t words = (walk.places[i] - frame) / sizeof(uintptr_t);
    if (walk.places[i] < frame || words > UINT32_MAX ||
        *reinterpret_cast<const uintptr_t*>(walk.places[i]) != walk.addresses[i]) {
      return false;
    }
    seen.places[i] = static_cast<uint32_t>(words);
  }
  return true;
}

// A recursion that never calls twice from the same frames would spend its time in
// walks: they are then cut short, and the report says so.
constexpr unsigned kShortDepth = 5;
constexpr uint32_t kManyWalks = 20000;

unsigned depth_for(ThreadHeap& heap) {
  const unsigned wanted = process().stack_depth < kMaxDepth ? process().stack_depth : kMaxDepth;
  ++heap.stacks_walked;
  const bool often = heap.stacks_walked > kManyWalks && heap.stacks_walked > heap.stacks_asked / 8;
  if (heap.stacks_asked > 8 * kManyWalks) {
    heap.stacks_asked /= 2;
    heap.stacks_walked /= 2;
  }
  if (!often || wanted <= kShortDepth) return wanted;
  trace().limit(PLUMB_LIMIT_SHORT_STACKS);
  return kShortDepth;
}

}  // namespace

__attribute__((noinline, cold)) uint32_t walk_stack(Inside& in, ThreadHeap& heap, SeenStack& seen,
                                                    uintptr_t frame, uintptr_t caller) {
  Walk walk;
  walk.count = 0;
  walk.limit = depth_for(heap);
  walk.own = own_module();
  _Unwind_Backtrace(visit, &walk);
  if (walk.count == 0) walk.addresses[walk.count++] = caller, walk.places[0] = 0;
  const uint32_t stack = stack_id(in, walk.addresses, walk.count);
  seen.frame = 0;
  if (stack != 0 && remember(seen, walk, frame)) {
    seen.frame = frame;
    seen.caller = caller;
    seen.epoch = module_epoch();
    seen.stack = stack;
    seen.count = walk.count;
  }
  return stack;
}

}  // namespace plumb::rt
