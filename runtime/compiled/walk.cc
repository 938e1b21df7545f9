#include "compiled/walk.h"

#include <unwind.h>

#include "common/frame_sizes.h"
#include "common/memory.h"
#include "common/modules.h"

namespace plumb::rt {

namespace {

// One for all threads: it is about code.
FrameSizes* sizes = nullptr;

// So far below what is known of a stack, it is taken for the same one.
constexpr uintptr_t kNear = uintptr_t{1} << 18;

struct Unwinding {
  StackWalk* walk;
  unsigned limit;
  Range own;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  const Unwinding& unwinding = *static_cast<Unwinding*>(argument);
  StackWalk& walk = *unwinding.walk;
  int before_call = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &before_call);
  if (address == 0) return _URC_END_OF_STACK;
  if (address >= unwinding.own.begin && address < unwinding.own.end) return _URC_NO_REASON;
  // The frame that was called from here begins above its return address.
  walk.places[walk.count] = before_call != 0 ? 0 : _Unwind_GetCFA(context) - sizeof(uintptr_t);
  if (before_call != 0) ++address;
  walk.addresses[walk.count++] = address;
  return walk.count < unwinding.limit ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// False: something on the way is not known.
bool walk_by_sizes(StackWalk& walk, const StackSpan& span, uintptr_t frame, uintptr_t caller,
                   unsigned limit) {
  uintptr_t place = frame + sizeof(uintptr_t);
  if (place + kNear < span.low || place >= span.top) return false;
  uintptr_t address = caller;
  unsigned count = 0;
  while (true) {
    walk.places[count] = place;
    walk.addresses[count++] = address;
    if (count == limit) break;
    const uint64_t size = sizes->find(address);
    if (size == FrameSizes::kLast) break;
    if (size == FrameSizes::kUnknown || size == FrameSizes::kVaries) return false;
    place += size * sizeof(uintptr_t);
    if (place > span.top) return false;
    address = *reinterpret_cast<const uintptr_t*>(place);
  }
  walk.count = count;
  return true;
}

// Only a row of return addresses that lie where they should, one above the other.
bool is_plain(const StackWalk& walk, uintptr_t frame, uintptr_t caller) {
  if (walk.count == 0 || walk.places[0] != frame + sizeof(uintptr_t)) return false;
  if (walk.addresses[0] != caller) return false;
  for (unsigned i = 0; i < walk.count; ++i) {
    if (i != 0 && walk.places[i] <= walk.places[i - 1]) return false;
    if (*reinterpret_cast<const uintptr_t*>(walk.places[i]) != walk.addresses[i]) return false;
  }
  return true;
}

void learn(const StackWalk& walk, bool whole) {
  for (unsigned i = 1; i < walk.count; ++i) {
    sizes->learn(walk.addresses[i - 1], walk.places[i] - walk.places[i - 1]);
  }
  if (whole) sizes->learn_last(walk.addresses[walk.count - 1]);
}

__attribute__((noinline, cold)) void unwind(ThreadHeap& heap, StackWalk& walk, uintptr_t frame,
                                            uintptr_t caller, unsigned limit) {
  Unwinding unwinding{&walk, limit, own_module()};
  walk.count = 0;
  _Unwind_Backtrace(visit, &unwinding);
  if (walk.count == 0) {
    walk.addresses[0] = caller;
    walk.places[0] = 0;
    walk.count = 1;
  }
  if (!is_plain(walk, frame, caller)) return;
  learn(walk, walk.count < limit);
  const uintptr_t top = walk.places[walk.count - 1];
  StackSpan& span = heap.span;
  const bool same = frame + kNear >= span.low && frame < span.top;
  if (!same || frame < span.low) span.low = frame;
  if (!same || top > span.top) span.top = top;
}

}  // namespace

bool prepare_walks() {
  sizes = static_cast<FrameSizes*>(own_pages(sizeof(FrameSizes)));
  return sizes != nullptr;
}

void walk_up(ThreadHeap& heap, StackWalk& walk, uintptr_t frame, uintptr_t caller, unsigned limit) {
  sizes->begin_epoch(module_epoch());
  if (!walk_by_sizes(walk, heap.span, frame, caller, limit)) {
    unwind(heap, walk, frame, caller, limit);
  } else if (frame < heap.span.low) {
    heap.span.low = frame;
  }
}

}  // namespace plumb::rt
