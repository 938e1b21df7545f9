// Small blocks for a command that makes and drops millions of them and then ends.
//
// Blocks of one size class are cut from runs of a region that is reserved once. What is
// freed goes to a list of the thread that frees it, and is what that thread takes next: two
// loads and a store, without locks. A thread that ends hands its lists over to those that
// come after it. Memory is never given back to the system.
// Limits: what is larger than kLargestPooled, and everything when no region is to be had
// (`ulimit -v`), is for malloc. The one lock is not waited for: a child between fork and
// exec, for whom nobody will release it, takes malloc, too.
#pragma once

#include <cstddef>

namespace plumb {

inline constexpr std::size_t kLargestPooled = 2048;

// A block of at least so many bytes, aligned as malloc's are; or null: malloc has to do.
void* take_pooled(std::size_t size) noexcept;

// False when the block is none of the pool's.
bool give_pooled(void* block) noexcept;

}  // namespace plumb
