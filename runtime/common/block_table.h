// The blocks that the scan decides about: one entry each (PlumbBlock, in the trace),
// found by address through the granules. Filled when the world is stopped; a runtime
// says what there is (ScanHooks::fill).
//
// Invariant: during the scan the granule of a block's start has the index of its entry.
#pragma once

#include <stdint.h>

#include "common/granules.h"
#include "trace/record.h"

namespace plumb::rt {

class BlockTable {
 public:
  bool prepare();

  // False: no room.
  bool adopt(const PlumbBlock& block);
  void forget_adopted();
  // All entries, but not what the granules say of them.
  void empty();

  PlumbBlock& entry(uint32_t index) { return blocks_[index]; }
  uint32_t find_start(uintptr_t address) const { return granules_.get(address); }
  // One more than the last entry that is used.
  uint32_t end() const;
  const Granules& granules() const { return granules_; }
  Granules& granules() { return granules_; }

 private:
  PlumbBlock* blocks_ = nullptr;
  Granules granules_;
};

extern BlockTable the_block_table;
inline BlockTable& block_table() { return the_block_table; }

}  // namespace plumb::rt
