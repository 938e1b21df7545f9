// Where glibc's allocator keeps its memory and its bookkeeping, so that neither
// is taken for a root.
//
// Main arena: the [heap] mapping, but not what the program took from it by
// sbrk, nor what was there before we were. Other arenas: whole 64 MB heaps.
// Large blocks: mappings of their own. main_arena itself, in libc's data: its
// bins point into the last bytes of the block before a free one.
#pragma once

#include <stdint.h>

#include "common/maps.h"
#include "trace/record.h"

namespace plumb::rt {

// At start-up: finds main_arena and the heap's current end.
bool prepare_heap_layout();
uintptr_t main_arena_address();  // 0: not found

// The program's own use of sbrk.
void note_sbrk(uintptr_t begin, intptr_t increment);

// glibc keeps flags and size of a block in the words before it.
struct ChunkHead {
  uint64_t previous_size;
  uint64_t size_and_flags;

  bool is_mapped() const { return (size_and_flags & 2) != 0; }
  bool in_other_arena() const { return (size_and_flags & 4) != 0; }
  uint64_t size() const { return size_and_flags & ~uint64_t{7}; }
};
inline const ChunkHead& chunk_head(uintptr_t block) {
  return *reinterpret_cast<const ChunkHead*>(block - sizeof(ChunkHead));
}
// Bytes from the block's start that belong to it.
inline uint64_t usable_size(uintptr_t block) {
  const ChunkHead& head = chunk_head(block);
  return head.size() - (head.is_mapped() ? 16 : 8);
}

// Adds everything of the allocator's for the blocks that are alive.
void allocator_ranges(const OwnVector<Mapping>& mappings, OwnVector<Range>& ranges);

}  // namespace plumb::rt
