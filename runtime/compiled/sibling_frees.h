// Where blocks of each allocation stack are freed: what a leak is to be compared with.
//
// A thread counts by allocation stack and by the place that frees, in a table of its
// own; only when a pair is new to it is the stack of the free looked at. A table that
// has no room hands its oldest pair to the common one.
// Limit: the first free of a pair stands for all of them: callers further up are its.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "compiled/drop.h"

namespace plumb::rt {

struct ThreadHeap;

struct FreedHere {
  uint32_t allocation;  // stack; 0: none
  uint32_t stack;
  uintptr_t place;
  uint64_t blocks;
};
inline constexpr unsigned kFreedHere = 1024;  // pairs of a thread
inline constexpr unsigned kFreedTries = 4;

inline unsigned freed_slot(uint32_t allocation, uintptr_t place) {
  static_assert(kFreedHere == 1u << 10);
  const uint64_t hash = (place ^ uint64_t{allocation} << 40) * 0x9e3779b97f4a7c15u;
  return static_cast<unsigned>(hash >> 54);
}

void note_new_free(Inside& in, ThreadHeap& heap, uint32_t allocation, uintptr_t place,
                   Caller caller);

// A block of this allocation stack is freed at `place`.
inline void note_free(Inside& in, ThreadHeap& heap, FreedHere* table, uint32_t allocation,
                      uintptr_t place, Caller caller) {
  FreedHere& first = table[freed_slot(allocation, place)];
  if (__builtin_expect(first.allocation == allocation && first.place == place, 1)) {
    ++first.blocks;
    return;
  }
  note_new_free(in, heap, allocation, place, caller);
}

// Of the allocation stacks of lost blocks, and of those that differ from one of them in one
// frame, into the trace. Nobody else is at work.
void record_frees();

}  // namespace plumb::rt
