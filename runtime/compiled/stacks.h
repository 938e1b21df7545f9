// Who called: exact stacks at a price that every allocation can pay.
//
// A walk is remembered with the places on the stack where its return addresses
// lay. When the same frame calls from the same instruction again and all those
// places still hold the same addresses, it is the same stack: a few loads in a
// row instead of a walk. Otherwise the unwinder walks.
#pragma once

#include <stdint.h>

#include "common/inside.h"

namespace plumb::rt {

// `frame` is __builtin_frame_address(0) of the function that the program called,
// `caller` its return address.
uint32_t seen_stack(Inside& in, uintptr_t frame, uintptr_t caller);

#define PLUMB_HERE()                                       \
  reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), \
      reinterpret_cast<uintptr_t>(__builtin_return_address(0))

}  // namespace plumb::rt
