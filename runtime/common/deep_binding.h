// What a runtime with memory of its own says about the load of a library that binds deeply
// (deep_binding.cc, which shows dlopen to the program).
#pragma once

namespace plumb::rt {

// While it lives, libc's allocator serves the calling thread.
class DeepLoad {
 public:
  DeepLoad();
  ~DeepLoad();
  DeepLoad(const DeepLoad&) = delete;
  DeepLoad& operator=(const DeepLoad&) = delete;
};

// There may be blocks that libc's allocator does not know.
bool has_blocks_of_its_own();

}  // namespace plumb::rt
