// A thread's own unused slots: what malloc and free do nearly always.
//
// A thread takes from one list and gives to it. When that has grown to a batch it is
// put aside; when the next one has, the older goes to the others as it is. Lists change
// hands whole: nobody walks along slots that are not in the processor's cache.
#pragma once

#include "compiled/arena.h"
#include "compiled/size_classes.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

extern uintptr_t arena_begin;

inline uintptr_t small_begin(unsigned slot_class) {
  return arena_begin + (uintptr_t{slot_class} << kRegionBits);
}

// A list of each class that is passed on.
struct KeptSlots {
  uint8_t most[kSmallClasses];
  constexpr KeptSlots() : most{} {
    for (unsigned i = 0; i < kSmallClasses; ++i) most[i] = static_cast<uint8_t>(2 * batch_of(i));
  }
};
inline constexpr KeptSlots kept_slots;

// There must be one.
inline Head* take_cached(CachedSlots& cached, unsigned slot_class) {
  auto* slot = reinterpret_cast<Head*>(small_begin(slot_class) + cached.first * 16);
  cached.first = slot->size;
  --cached.count;
  // It may be long since somebody looked at the next one.
  __builtin_prefetch(reinterpret_cast<void*>(small_begin(slot_class) + cached.first * 16), 1);
  return slot;
}

// True when there are too many now.
inline bool keep_cached(CachedSlots& cached, Head* slot, unsigned slot_class, uint64_t born) {
  Head unused{};
  unused.size = cached.first;
  unused.slot_class = slot_class;
  unused.state = kUnused;
  unused.born = born;
  *slot = unused;
  cached.first = (reinterpret_cast<uintptr_t>(slot) - small_begin(slot_class)) / 16;
  return ++cached.count >= kept_slots.most[slot_class];
}
// The list is put aside, and the one that was there goes to the others.
void pass_on(CachedSlots& cached, unsigned slot_class);

}  // namespace plumb::rt
