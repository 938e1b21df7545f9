// What a thread of a tracked program has of its own: unused slots, counters, and
// the stacks it was seen with. Handed on to another thread when this one ends.
// Threads that have none (they are ending) share one under a lock.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "common/spin_lock.h"
#include "compiled/place_notes.h"
#include "compiled/sibling_frees.h"
#include "compiled/size_classes.h"
#include "trace/record.h"

namespace plumb::rt {

struct CachedSlots {
  uint64_t first = 0;  // granules; linked through Head::size
  unsigned count = 0;
  unsigned spare_count = 0;
  uint64_t spare = 0;   // another such list, a whole batch: see cached_slots.h
  uintptr_t fresh = 0;  // never used: [fresh, fresh_end)
  uintptr_t fresh_end = 0;
};

// A stack that was walked before: valid while each of its return addresses is
// still where it was.
inline constexpr unsigned kCachedDepth = 32;
struct SeenStack {
  uintptr_t frame;
  uintptr_t caller;
  uint32_t epoch;
  uint32_t stack;
  uint32_t count;
  bool unchosen;                  // by site_filter.h
  uint32_t places[kCachedDepth];  // from `frame` up, in words
  uint64_t sum;                   // of short stacks: of the addresses there
  // ... and what was freed last from there, with a reference at `offset`.
  const void* site;
  uint32_t offset;
  uint32_t number;  // of the place's note; 0: none
};

// Of the stack that was unwound last: between these, memory can be read.
struct StackSpan {
  uintptr_t low;
  uintptr_t top;
};
inline constexpr unsigned kSeenStacks = 4096;

struct ThreadHeap {
  PlumbThread* counters;
  uint32_t thread;  // number, in the order of first allocation
  ThreadHeap* next;
  ThreadHeap* next_of_all;
  StackSpan span;
  CachedSlots slots[kSmallClasses];
  KnownNote notes[kKnownNotes];
  FreedHere freed[kFreedHere];
  SeenStack seen[kSeenStacks];
};

bool prepare_thread_heaps();
// All that there ever were, linked by `next_of_all`.
ThreadHeap* all_thread_heaps();
// In the child of a fork: the other threads are gone.
void reset_thread_heaps();

// The calling thread's time is not before that of threads that have ended.
void continue_after_ended_threads();

class ThreadHeapUse {
 public:
  explicit ThreadHeapUse(Inside& in);
  ~ThreadHeapUse() {
    if (__builtin_expect(shared_, 0)) shared_lock.unlock();
  }
  ThreadHeapUse(const ThreadHeapUse&) = delete;
  ThreadHeapUse& operator=(const ThreadHeapUse&) = delete;
  ThreadHeap* operator->() { return heap_; }
  ThreadHeap& operator*() { return *heap_; }

 private:
  static SpinLock shared_lock;
  static ThreadHeap* attach();
  ThreadHeap* heap_;
  bool shared_ = false;
};

extern thread_local constinit ThreadHeap* thread_heap
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

inline ThreadHeapUse::ThreadHeapUse(Inside&) : heap_(thread_heap) {
  if (__builtin_expect(heap_ == nullptr, 0)) {
    heap_ = attach();
    shared_ = thread_heap == nullptr;
  }
}

}  // namespace plumb::rt
