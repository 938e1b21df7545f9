// A thread's own unused slots: what malloc and free do nearly always.
#pragma once

#include "compiled/arena.h"
#include "compiled/size_classes.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

extern uintptr_t arena_begin;

inline uintptr_t small_begin(unsigned slot_class) {
  return arena_begin + (uintptr_t{slot_class} << kRegionBits);
}

// The most that a thread keeps of each class.
struct KeptSlots {
  uint8_t most[kSmallClasses];
  constexpr KeptSlots() : most{} {
    for (unsigned i = 0; i < kSmallClasses; ++i) most[i] = static_cast<uint8_t>(4 * batch_of(i));
  }
};
inline constexpr KeptSlots kept_slots;

// There must be one.
inline Head* take_cached(CachedSlots& cached, unsigned slot_class) {
  auto* slot = reinterpret_cast<Head*>(small_begin(slot_class) + cached.first * 16);
  cached.first = slot->size;
  --cached.count;
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
  return ++cached.count > kept_slots.most[slot_class];
}
// They go to the common list.
void pass_on(CachedSlots& cached, unsigned slot_class);

}  // namespace plumb::rt
