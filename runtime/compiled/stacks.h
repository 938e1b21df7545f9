// Who called: stacks at a price that every allocation can pay.
//
// A walk is remembered with the places on the stack where its return addresses
// lay. When the same frame calls from the same instruction again and all those
// places still hold the same addresses, it is the same stack: a few loads in a
// row instead of a walk.
//
// An allocation has its whole stack. Where references go with a freed block, the stack
// is a short one: the innermost frames, and of a recursion each call once. A tree that
// is freed in a recursion comes by another way to each of its nodes; those ways say
// nothing, and there is no end of them.
#pragma once

#include <stdint.h>

#include "common/inside.h"
#include "common/modules.h"
#include "common/trace_file.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

inline bool still_holds(const SeenStack& seen) {
  const auto* words = reinterpret_cast<const uintptr_t*>(seen.frame);
  const uint64_t* addresses = trace().stack_words() + seen.stack + PLUMB_STACK_WORDS;
  uint64_t differences = 0;
#pragma clang loop unroll(disable) vectorize(disable)
  for (uint32_t i = 0; i < seen.count; ++i) differences |= words[seen.places[i]] ^ addresses[i];
  return differences == 0;
}

// Walks, and remembers it in `seen`.
uint32_t walk_stack(Inside& in, ThreadHeap& heap, SeenStack& seen, uintptr_t frame,
                    uintptr_t caller);

// `frame` is __builtin_frame_address(0) of the function that the program called,
// `caller` its return address.
inline SeenStack& seen_for(ThreadHeap& heap, uintptr_t frame, uintptr_t caller) {
  const uint64_t hash = ((frame >> 3) ^ caller) * 0x9e3779b97f4a7c15u;
  static_assert(kSeenStacks == 1u << 12);
  return heap.seen[hash >> 52];
}
inline bool is_this_stack(const SeenStack& seen, uintptr_t frame, uintptr_t caller) {
  return __builtin_expect(seen.frame == frame && seen.caller == caller &&
                              seen.epoch == module_epoch() && still_holds(seen),
                          1);
}

inline uint32_t seen_stack(Inside& in, uintptr_t frame, uintptr_t caller) {
  ThreadHeapUse heap(in);
  SeenStack& seen = seen_for(*heap, frame, caller);
  if (is_this_stack(seen, frame, caller)) return seen.stack;
  return walk_stack(in, *heap, seen, frame, caller);
}

// The short one.
uint32_t short_stack(Inside& in, uintptr_t frame, uintptr_t caller);
// The same, if it is the one that was seen last from there; null: ask short_stack.
SeenStack* seen_short_stack(ThreadHeap& heap, uintptr_t frame, uintptr_t caller);

#define PLUMB_HERE()                                       \
  reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), \
      reinterpret_cast<uintptr_t>(__builtin_return_address(0))

}  // namespace plumb::rt
