// All blocks that are alive as the program ends, as far as they are known: sampled ones in
// the arena, sampled ones that malloc put into mappings of their own, and what lies in
// glibc's heaps, sampled or not. Found by any address in them; each is marked
// when it is reached.
#pragma once

#include <stdint.h>

#include "common/heap_walk.h"
#include "common/maps.h"
#include "common/memory.h"

namespace plumb::rt {

struct EndBlock {
  Range range;             // empty: none
  uintptr_t shown_at = 0;  // where we read what is in it
  uint32_t sample = 0;     // 0: it lies in a heap, and its mark is there
  bool is_there() const { return range.end != 0; }
};

class EndBlocks {
 public:
  // The world is stopped, the model's lock held, faults are guarded. False: no room, or
  // more than `most` bytes of heaps, if they are known.
  bool list(const OwnVector<Mapping>& mappings, bool knows_heap, uint64_t most);
  bool were_too_large() const { return heaps_.was_too_large(); }
  void release();
  // Adds what holds blocks: none of it is a root.
  void exclude(OwnVector<Range>& ranges) const;

  EndBlock find(uintptr_t address) const;
  bool is_reached(const EndBlock& block) const;
  void reach(const EndBlock& block);

  // The block of a live sample; not there when it was put where nobody could look.
  EndBlock of_sample(uint32_t index) const;

 private:
  struct Large {
    Range range;
    uint32_t sample;
  };

  bool list_large(const OwnVector<Mapping>& mappings);
  const Large* large_around(uintptr_t address) const;
  EndBlock of_placed(uint32_t index) const;

  HeapWalk heaps_;
  OwnVector<Large> large_;      // by address
  uint8_t* reached_ = nullptr;  // by sample
  uint32_t sample_end_ = 0;
};

}  // namespace plumb::rt
