// Blocks that were freed without us: a library that was loaded with RTLD_DEEPBIND finds
// glibc's `free` before ours. What it allocates is not seen, which is no harm; but a block
// of ours that it freed must not be called lost, so each one is looked up in glibc's own
// lists before the scan. Only where such a library was loaded.
//
// Limit: this knows how glibc 2.26 and later keep free chunks (tcache, fast bins, bins).
#pragma once

#include <stdint.h>

namespace plumb::rt {

// From here on blocks may be freed behind our back. Uses malloc.
void expect_freed_chunks();
bool expects_freed_chunks();

// glibc has the block's memory back. The world is stopped.
bool is_freed_chunk(uintptr_t block);

}  // namespace plumb::rt
