// The blocks that are alive: one entry each (PlumbBlock, in the trace), found
// by address through the granules.
//
// Entries are dense: an unused one is taken before a new one is begun. Each
// thread keeps up to two batches of unused entries and passes full batches
// through a common list, so that blocks allocated here and freed there do not
// make the table grow.
//
// Invariant: outside an Inside, an address has an index in the granules exactly
// when its entry is LIVE (or has a verdict) and names that address; counters of
// allocated minus freed equal the live entries.
#pragma once

#include <stdint.h>

#include "common/granules.h"
#include "common/inside.h"
#include "common/names.h"
#include "trace/record.h"

namespace plumb::rt {

class BlockTable {
 public:
  bool prepare();

  // After this the block is tracked; on failure tracking is given up.
  void add(Inside& in, void* address, uint64_t size, PlumbApi api, uint32_t stack,
           const Named& name = {});
  // A block that was kept elsewhere until now, the end. False: no room.
  bool adopt(const PlumbBlock& block);
  void forget_adopted();
  // A block that is about to be freed. False: not one of ours.
  bool remove(Inside& in, void* address);

  // A block that is about to be reallocated: out of the table, but not yet
  // freed. Index 0: not one of ours.
  uint32_t detach(Inside& in, void* address);
  void reattach(Inside& in, uint32_t entry);  // it stayed where it was
  void drop(Inside& in, uint32_t entry);      // it is gone

  // A free from a signal handler that interrupted us: the entry is not used
  // again, since the lists may be half-changed.
  void abandon(Inside& in, void* address);

  // The program was told the usable size and may keep references in it.
  void mark_usable(Inside& in, void* address);

  PlumbBlock& entry(uint32_t index) { return blocks_[index]; }
  uint32_t find_start(uintptr_t address) const { return granules_.get(address); }
  // One more than the last entry that was ever used.
  uint32_t end() const;
  const Granules& granules() const { return granules_; }

 private:
  uint32_t take(struct ThreadSlot& slot);
  void give(struct ThreadSlot& slot, uint32_t index);

  PlumbBlock* blocks_ = nullptr;
  Granules granules_;
};

BlockTable& block_table();

}  // namespace plumb::rt
