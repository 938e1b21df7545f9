// The allocator that the program would have used without us: glibc's, or one
// that it is linked with (jemalloc, tcmalloc). Blocks that are not sampled are
// its own, from the first one on: the functions are looked up by the first
// call, so that no block of one allocator is ever freed by another.
#pragma once

#include <stddef.h>

namespace plumb::rt {

struct NextAllocator {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*memalign)(size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
  void (*free)(void*);
  size_t (*malloc_usable_size)(void*);
  // glibc keeps the size before the block.
  bool is_glibc;
};
extern NextAllocator next_allocator;

// The module that has it, for messages; null when unknown.
const char* next_allocator_module();

// With glibc's malloc: the size of the block's chunk.
inline size_t chunk_size(const void* block) {
  return reinterpret_cast<const size_t*>(block)[-1] & ~size_t{7};
}

}  // namespace plumb::rt
