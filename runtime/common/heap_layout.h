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
Range main_arena_range();

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

// The heaps of the arenas that other threads have, also of those without a block: what was
// freed in them is full of stale references.
struct ArenaHeap {
  uintptr_t arena;  // its state, in the oldest of its heaps
  uintptr_t heap;
  uintptr_t top;  // of the arena: behind the last chunk of its newest heap
};
void list_arena_heaps(const OwnVector<Mapping>& mappings, OwnVector<ArenaHeap>& heaps);

// Behind the last chunk of the main arena; 0: not known.
uintptr_t main_arena_top();
// An arena's state, and what a heap has before it.
inline constexpr size_t kArenaStateSize = 2200;
inline constexpr uintptr_t kHeapAlignment = uintptr_t{64} << 20;

// The mapping that holds this block alone, as the words before it claim; does that fit?
Range mapped_chunk(uintptr_t block);
bool is_whole_mapping(const OwnVector<Mapping>& mappings, Range range);

// Adds everything of the allocator's for the blocks that are alive.
void allocator_ranges(const OwnVector<Mapping>& mappings, OwnVector<Range>& ranges);

}  // namespace plumb::rt
