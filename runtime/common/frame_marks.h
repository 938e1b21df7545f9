// Which frames are still the same as at an earlier call.
//
// Test frameworks call a listener before and after a test, from one function. The
// frames below that function's are new at the second call, but full of what the
// test left on the stack: words that nobody wrote since. A caller that knows that
// these frames hold nothing can have them left out.
#pragma once

#include <stdint.h>

namespace plumb::rt {

// Remembers the calling thread's frames.
void mark_frames();
// From here up the stack is in frames that were there when it was marked; 0 when
// there are none.
uintptr_t marked_stack();

}  // namespace plumb::rt
