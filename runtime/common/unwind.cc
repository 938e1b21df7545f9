#include "common/unwind.h"

#include <unwind.h>

#include "common/frame_sizes.h"
#include "common/memory.h"
#include "common/modules.h"
#include "common/process.h"
#include "common/stack_depot.h"
#include "common/stack_memo.h"
#include "common/threads.h"

namespace plumb::rt {

namespace {

// Frames behind the last that is kept, whose sizes are learned with it.
constexpr unsigned kQuickMargin = 8;

// One for all threads: it is about code.
FrameSizes* frame_sizes = nullptr;

FrameSizes* prepared_sizes() {
  FrameSizes* sizes = __atomic_load_n(&frame_sizes, __ATOMIC_ACQUIRE);
  if (__builtin_expect(sizes != nullptr, 1)) return sizes;
  auto* fresh = static_cast<FrameSizes*>(own_pages(sizeof(FrameSizes)));
  if (fresh == nullptr) return nullptr;
  if (__atomic_compare_exchange_n(&frame_sizes, &sizes, fresh, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return fresh;
  }
  release_own_pages(fresh, sizeof(FrameSizes));
  return sizes;
}

struct Walk {
  uintptr_t addresses[kMaxDepth];
  const uintptr_t* places[kMaxDepth];  // where each was found
  bool plain;                          // all of them are return addresses on the stack
  unsigned count;
  unsigned limit;
  Range own;
  const FrameSizes* sizes;  // null: not to be used
  uintptr_t top;            // words up to here can be read
  uintptr_t try_from;       // closer places lead to one that is not known
  const StackMemo* last;    // the stack before this one; null: none
};

// On from a return address that the last stack has as well, by what is behind it
// there, if that is still in place.
bool walk_as_before(Walk& walk, uintptr_t address, uintptr_t place) {
  const StackMemo& last = *walk.last;
  uint32_t at = 0;
  while (at < last.count && reinterpret_cast<uintptr_t>(last.returns[at].place) < place) ++at;
  if (at == last.count || reinterpret_cast<uintptr_t>(last.returns[at].place) != place ||
      last.returns[at].address != address) {
    return false;
  }
  if (last.is_whole == 0 && walk.count + (last.count - at - 1) < walk.limit) return false;
  const unsigned before = walk.count;
  for (++at; at < last.count && walk.count < walk.limit; ++at) {
    const Return& next = last.returns[at];
    if (*next.place != next.address) {
      walk.count = before;
      return false;
    }
    walk.places[walk.count] = next.place;
    walk.addresses[walk.count++] = next.address;
  }
  return true;
}

// On from a return address by what is known of the frames' sizes. False: something
// is not, and nothing was done.
bool walk_by_sizes(Walk& walk, uintptr_t address, uintptr_t place) {
  const unsigned before = walk.count;
  while (walk.count < walk.limit) {
    const uint64_t size = walk.sizes->find(address);
    if (size == FrameSizes::kLast) return true;
    const bool known = size != FrameSizes::kUnknown && size != FrameSizes::kVaries;
    if (!known || place + size * sizeof(uintptr_t) > walk.top) {
      if (walk.last != nullptr && walk_as_before(walk, address, place)) return true;
      walk.try_from = place;
      walk.count = before;
      return false;
    }
    place += size * sizeof(uintptr_t);
    const auto* word = reinterpret_cast<const uintptr_t*>(place);
    address = *word;
    walk.places[walk.count] = word;
    walk.addresses[walk.count++] = address;
  }
  return true;
}

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
  const auto at = reinterpret_cast<uintptr_t>(place);
  if (walk.sizes != nullptr && walk.plain && at > walk.try_from &&
      walk_by_sizes(walk, address, at)) {
    return _URC_END_OF_STACK;
  }
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

// The thread's slot, if it has the tables. Others share one: they have none.
ThreadSlot* slot_with_memos(Inside& in) {
  ThreadSlot* slot = in.thread().slot;
  if (slot == nullptr) return nullptr;
  if (slot->memos == nullptr) {
    slot->memos = static_cast<StackMemo*>(own_pages(kMemos * sizeof(StackMemo)));
  }
  return slot->memos == nullptr ? nullptr : slot;
}

// The entry point's own return address.
bool begin_at_call(Walk& walk, const Called& called) {
  const auto* place = reinterpret_cast<const uintptr_t*>(called.frame) + 1;
  if (*place != called.caller) return false;
  walk.places[0] = place;
  walk.addresses[0] = called.caller;
  walk.count = 1;
  return true;
}

// From the frame of our own function, whose address is `from`; 0: the entry point.
bool walk_from(Walk& walk, const Called& called, uintptr_t from) {
  if (from == 0) {
    return begin_at_call(walk, called) &&
           walk_by_sizes(walk, called.caller, reinterpret_cast<uintptr_t>(walk.places[0]));
  }
  const bool known = walk_by_sizes(walk, from, called.frame);
  return known && walk.count != 0 && walk.addresses[0] == called.caller;
}

void learn_sizes(const Walk& walk, FrameSizes& sizes, uintptr_t frame, uintptr_t from) {
  uintptr_t before = frame;
  uintptr_t address = from;
  for (unsigned i = 0; i < walk.count; ++i) {
    const auto place = reinterpret_cast<uintptr_t>(walk.places[i]);
    if (place <= before) return;  // on another stack
    if (address != 0) sizes.learn(address, place - before);
    before = place;
    address = walk.addresses[i];
  }
  if (walk.count < walk.limit) sizes.learn_last(address);
}

// Unwinds, if there is no shorter way.
void take_walk(Walk& walk, ThreadSlot* slot, const Called& called, uintptr_t from) {
  FrameSizes* sizes = slot == nullptr ? nullptr : prepared_sizes();
  walk.count = 0;
  walk.plain = true;
  walk.own = own_module();
  walk.sizes = sizes;
  walk.try_from = 0;
  if (sizes == nullptr) {
    _Unwind_Backtrace(visit, &walk);
    return;
  }
  sizes->begin_epoch(module_epoch());
  walk.top = slot->stack_top;
  walk.last = slot->last_stack;
  if (walk_from(walk, called, from)) return;
  walk.count = 0;
  _Unwind_Backtrace(visit, &walk);
  if (!walk.plain || walk.count == 0) return;
  learn_sizes(walk, *sizes, called.frame, from);
  const auto last = reinterpret_cast<uintptr_t>(walk.places[walk.count - 1]);
  if (last > slot->stack_top) slot->stack_top = last;
}

void remember(StackMemo& memo, const Walk& walk, const Called& called, uint32_t stack) {
  memo.caller = called.caller;
  memo.frame = called.frame;
  memo.epoch = module_epoch();
  memo.stack = stack;
  memo.count = walk.count;
  memo.is_whole = walk.count < walk.limit ? 1 : 0;
  for (unsigned i = 0; i < walk.count; ++i) {
    memo.returns[i] = {walk.places[i], walk.addresses[i]};
  }
}

// Unwinds so that these frames' sizes are known the next time, whatever they are.
void learn_frames(Walk& walk, const Called& called, ThreadSlot& slot, FrameSizes& sizes) {
  const unsigned limit = walk.limit;
  walk.limit = limit + kQuickMargin;
  walk.count = 0;
  walk.plain = true;
  walk.sizes = nullptr;
  _Unwind_Backtrace(visit, &walk);
  if (walk.plain && walk.count != 0) {
    learn_sizes(walk, sizes, called.frame, 0);
    const auto last = reinterpret_cast<uintptr_t>(walk.places[walk.count - 1]);
    if (last > slot.stack_top) slot.stack_top = last;
  }
  if (walk.count > limit) walk.count = limit;
  for (unsigned i = 0; i < walk.count; ++i) {
    if (sizes.find(walk.addresses[i]) == FrameSizes::kUnknown) {
      sizes.learn_varies(walk.addresses[i]);
    }
  }
  walk.limit = limit;
}

// Frames as far as their sizes are known: a frame of varying size ends the stack.
// Each call is unwound once, the first time that it is met.
void take_quick_walk(Walk& walk, ThreadSlot& slot, const Called& called) {
  walk.count = 0;
  walk.plain = true;
  walk.own = own_module();
  FrameSizes* sizes = prepared_sizes();
  if (sizes == nullptr || !begin_at_call(walk, called)) return;
  sizes->begin_epoch(module_epoch());
  auto place = reinterpret_cast<uintptr_t>(walk.places[0]);
  uintptr_t address = called.caller;
  while (true) {
    const uint64_t size = sizes->find(address);
    if (size == FrameSizes::kLast || size == FrameSizes::kVaries) return;
    const uintptr_t next = place + size * sizeof(uintptr_t);
    // The last one is only looked up: so it is known to be a return address.
    if (size == FrameSizes::kUnknown || (walk.count < walk.limit && next > slot.stack_top)) {
      learn_frames(walk, called, slot, *sizes);
      return;
    }
    if (walk.count == walk.limit) return;
    place = next;
    address = *reinterpret_cast<const uintptr_t*>(place);
    walk.places[walk.count] = reinterpret_cast<const uintptr_t*>(place);
    walk.addresses[walk.count++] = address;
  }
}

}  // namespace

__attribute__((noinline)) uint32_t current_stack(Inside& in, uintptr_t caller, unsigned depth) {
  if (depth <= 1) return caller_stack(in, caller);
  // Ours, not the program's; but it lies at the same distance from it for each
  // of our entry points.
  return stack_from(in, {caller, reinterpret_cast<uintptr_t>(__builtin_frame_address(0))}, depth,
                    reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
}

__attribute__((noinline)) uint32_t stack_from(Inside& in, const Called& called, unsigned depth,
                                              uintptr_t from) {
  if (depth <= 1) return caller_stack(in, called.caller);
  ThreadSlot* slot = slot_with_memos(in);
  StackMemo* memo = slot == nullptr ? nullptr : &memo_for(slot->memos, called.caller, called.frame);
  if (memo != nullptr && is_same_stack(*memo, called.caller, called.frame, module_epoch())) {
    return memo->stack;
  }
  Walk walk;
  walk.limit = depth < kMaxDepth - kQuickMargin ? depth : kMaxDepth - kQuickMargin;
  if (from == 0 && process().quick_stacks != 0 && slot != nullptr) {
    take_quick_walk(walk, *slot, called);
  } else {
    take_walk(walk, slot, called, from);
  }
  if (walk.count == 0) return caller_stack(in, called.caller);
  const uint32_t stack = stack_id(in, walk.addresses, walk.count);
  if (memo != nullptr && stack != 0 && walk.plain && walk.count <= kMemoDepth) {
    remember(*memo, walk, called, stack);
    slot->last_stack = memo;
  }
  return stack;
}

}  // namespace plumb::rt
