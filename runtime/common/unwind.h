// Who called us.
#pragma once

#include <stdint.h>

#include "common/inside.h"

namespace plumb::rt {

// The id of the current stack without this library's own frames, at most
// process().stack_depth deep. `caller` is the return address of the function
// that the program called; a depth of one needs nothing else.
uint32_t current_stack(Inside& in, uintptr_t caller);
// The same, at most `depth` deep.
uint32_t current_stack(Inside& in, uintptr_t caller, unsigned depth);

}  // namespace plumb::rt
