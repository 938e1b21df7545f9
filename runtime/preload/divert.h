// Allocators of the program's own, by name (`--alloc-fn`, `--free-fn`): calls of
// those functions are noticed as if they were annotated with plumb.h.
#pragma once

#include <stdint.h>

namespace plumb::rt {

struct Diversion {
  bool frees;         // otherwise it allocates
  uint8_t argument;   // which one is the size, or the block; 1 is the first
  uintptr_t address;  // 0: it is to be looked up by name
  char name[128];
};
inline constexpr unsigned kMaxDiversions = 16;

// From here on. False: it is not there, or its beginning cannot be moved.
bool divert(const Diversion& wish);

// Address plus this is where something of the executable is.
uintptr_t executable_bias();

}  // namespace plumb::rt
