// From our own entry point up the stack, without the unwinder where its answer is
// known already.
//
// Most functions have a frame of one size at any given call (frame_sizes.h): what the
// unwinder found once is tried again, a look-up and a load for each frame. Only when
// something on the way is not known does the unwinder walk, and teaches the sizes.
#pragma once

#include <stdint.h>

#include "common/stack_depot.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

struct StackWalk {
  uintptr_t addresses[kMaxDepth];
  uintptr_t places[kMaxDepth];  // where each lay; 0: not on the stack
  unsigned count;
};

// At most `limit` frames; at least one. `frame` and `caller` as in stacks.h.
void walk_up(ThreadHeap& heap, StackWalk& walk, uintptr_t frame, uintptr_t caller, unsigned limit);

bool prepare_walks();

}  // namespace plumb::rt
