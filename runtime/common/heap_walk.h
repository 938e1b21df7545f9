// All blocks of glibc's heaps, for a runtime that keeps no account of them: read off the
// sizes that glibc writes before each chunk.
//
// A heap is believed only when the walk from its first chunk ends exactly where glibc says
// that it does; of a heap that is not believed (the program took a piece of it by sbrk, or
// wrote over a size) nothing is a block. Two bits for each 16 bytes: a block begins here,
// and it was reached.
//
// Limits: blocks in mappings of their own (above 128 kB, mostly) are not in any heap.
// A chunk that waits in a fast bin counts as a block; nobody refers to it.
#pragma once

#include <stdint.h>

#include "common/maps.h"
#include "common/memory.h"

namespace plumb::rt {

// At the start: how glibc marks what a thread keeps for its next allocation. Uses malloc.
void prepare_heap_walk();

class HeapWalk {
 public:
  // The world is stopped, faults are guarded. False: no room, or the heaps have more than
  // `most` bytes (was_too_large).
  bool walk(const OwnVector<Mapping>& mappings, uint64_t most);
  bool was_too_large() const { return too_large_; }
  void release();

  // Where the heaps lie that are believed: nothing in them is a root.
  size_t heap_count() const { return heaps_.size(); }
  Range heap_range(size_t index) const { return heaps_[index].range; }

  // The block around this address, one past its end included; empty: none.
  Range find(uintptr_t address) const;
  // `block` is from find.
  void reach(const Range& block);
  bool is_reached(const Range& block) const;

 private:
  struct Bits {  // side by side: who asks for one asks for the other
    uint64_t starts;
    uint64_t reached;
  };
  struct Heap {
    Range range;  // of the mapping, with what was never used
    Range chunks;
    Bits* bits;  // for 64 steps each
    size_t words;
    size_t size() const { return words * sizeof *bits; }
  };
  // What a walk goes by: the first chunk, where the mapping ends, and where the last chunk
  // must end (0: at glibc's mark for the end of a heap that is full).
  struct Bounds {
    Range range;
    uintptr_t first;
    uintptr_t top;
  };

  bool add(const Bounds& bounds);
  static constexpr uintptr_t kStep = 16;
  // Where a block's bits are; it lies in a heap.
  struct Place {
    const Heap* heap;
    size_t word;
    uint64_t bit;
  };
  Place place_of(const Range& block) const;
  static Range block_at(const Heap& heap, size_t step);
  static bool walk_chunks(const Bounds& bounds, Heap& heap);
  void sort_heaps();
  const Heap* heap_of(uintptr_t address) const;

  OwnVector<Heap> heaps_;  // by address, when walked
  uint64_t left_ = 0;
  bool too_large_ = false;
};

}  // namespace plumb::rt
