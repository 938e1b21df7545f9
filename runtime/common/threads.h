// What each thread has of its own: counters (in the trace), names and sites, so that
// threads do not meet at every allocation.
//
// A slot belongs to one thread at a time and is handed on when that thread
// ends. Threads without one (they ended already but still run clean-up code, or
// there are too many) share slot 1 under a lock.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "common/names.h"
#include "common/sites.h"
#include "common/spin_lock.h"
#include "common/stack_memo.h"
#include "trace/record.h"

namespace plumb::rt {

struct CallerStack {  // for stacks of depth one
  uintptr_t caller;
  uint32_t epoch;
  uint32_t stack;
};
inline constexpr unsigned kCallerCache = 128;

struct ThreadSlot {
  PlumbThread* counters;
  uint32_t thread;     // its name, see ThreadState
  uint32_t next_slot;  // in the list of unused slots
  NameTable names;
  SiteTable sites;
  QuickSites* quick;            // null: not yet
  uint32_t owner;               // never 0, and no two threads have the same; see PlumbBlockSite
  StackMemo* memos;             // null until stacks are taken
  const StackMemo* last_stack;  // one of them
  uintptr_t stack_top;          // the highest return address that was found on the stack
  CallerStack callers[kCallerCache];
};

bool prepare_threads();

// New allocations have new sites.
void forget_sites_of_threads();

// As hold_own_memory.
void hold_threads();
void let_go_threads();

// The calling thread's slot for as long as this lives.
class SlotUse {
 public:
  explicit SlotUse(Inside& in);
  ~SlotUse() {
    if (__builtin_expect(shared_, 0)) shared_lock.unlock();
  }
  ThreadSlot* operator->() { return slot_; }
  ThreadSlot& operator*() { return *slot_; }

 private:
  static SpinLock shared_lock;
  static ThreadSlot* attach(ThreadState& state);
  ThreadSlot* slot_;
  bool shared_ = false;
};

inline SlotUse::SlotUse(Inside& in) : slot_(in.thread().slot) {
  if (__builtin_expect(slot_ == nullptr, 0)) {
    slot_ = attach(in.thread());
    shared_ = in.thread().slot == nullptr;
  }
}

}  // namespace plumb::rt
