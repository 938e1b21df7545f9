// Allocation stacks, each kept once (PlumbStack, in the trace). Blocks refer
// to them by id. Insertion is lock-free: buckets are lists that only grow.
#pragma once

#include <stdint.h>

#include "common/inside.h"

namespace plumb::rt {

inline constexpr unsigned kMaxDepth = 256;

bool prepare_stack_depot();

// The id of this stack; 0 when the depot is full.
uint32_t stack_id(Inside& in, const uintptr_t* addresses, unsigned count);

}  // namespace plumb::rt
