// A library that binds deeply is loaded with libc's allocator for all that its
// constructors ask for: they would free it there.

#include "common/deep_binding.h"
#include "common/inside.h"
#include "compiled/fork.h"

namespace plumb::rt {

DeepLoad::DeepLoad() {
  ++thread_state.own_work;
  ++thread_state.depth;
}

DeepLoad::~DeepLoad() {
  --thread_state.depth;
  --thread_state.own_work;
  if ((thread_state.stop_wanted | thread_state.signal_wanted) != 0) deliver_postponed(thread_state);
}

bool has_blocks_of_its_own() { return arena_is_open(); }

}  // namespace plumb::rt
