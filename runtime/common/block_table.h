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
#include "common/threads.h"
#include "trace/record.h"

namespace plumb::rt {

class BlockTable {
 public:
  bool prepare();

  // After this the block is tracked; on failure tracking is given up.
  void add(Inside& in, void* address, uint64_t size, PlumbApi api, uint32_t stack,
           const Named& name = {});
  // The same where nothing is in the way: the thread has an entry at hand, and the
  // address is free. False: nothing was done.
  bool add_quickly(ThreadSlot& slot, uintptr_t address, uint64_t size, PlumbApi api, uint32_t stack,
                   uint64_t ordinal);
  // The counterpart: false when this is not one of ours, or there is no room.
  bool remove_quickly(ThreadSlot& slot, uintptr_t address);
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
  uint32_t take(ThreadSlot& slot);
  void give(ThreadSlot& slot, uint32_t index);

  static constexpr uint32_t kBatch = 4096;  // entries that change hands at once

  PlumbBlock* blocks_ = nullptr;
  Granules granules_;
};

extern BlockTable the_block_table;
inline BlockTable& block_table() { return the_block_table; }

__attribute__((always_inline)) inline bool BlockTable::add_quickly(ThreadSlot& slot,
                                                                   uintptr_t address, uint64_t size,
                                                                   PlumbApi api, uint32_t stack,
                                                                   uint64_t ordinal) {
  uint32_t* granule = granules_.place(address);
  if (__builtin_expect(granule == nullptr || *granule != 0, 0)) return false;
  uint32_t index = slot.entries.head;
  if (slot.entries.count != 0) {
    slot.entries.head = blocks_[index].leader;
    --slot.entries.count;
  } else if (slot.spare.count == 0 && slot.fresh != slot.fresh_end) {
    index = slot.fresh++;
  } else {
    return false;
  }
  PlumbBlock& block = blocks_[index];
  block.address = address;
  block.size = size;
  block.ordinal = ordinal;
  block.stack = stack;
  block.thread = slot.thread;
  block.leader = 0;
  block.api = static_cast<uint8_t>(api);
  block.flags = 0;
  __atomic_store_n(&block.state, PLUMB_BLOCK_LIVE, __ATOMIC_RELEASE);
  slot.counters->allocated_blocks += 1;
  slot.counters->allocated_bytes += size;
  *granule = index;
  return true;
}

__attribute__((always_inline)) inline bool BlockTable::remove_quickly(ThreadSlot& slot,
                                                                      uintptr_t address) {
  uint32_t* granule = granules_.place(address);
  if (__builtin_expect(granule == nullptr || slot.entries.count == kBatch, 0)) return false;
  const uint32_t index = *granule;
  PlumbBlock& block = blocks_[index];
  if (__builtin_expect(index == 0 || block.address != address, 0)) return false;
  *granule = 0;
  slot.counters->freed_blocks += 1;
  slot.counters->freed_bytes += block.size;
  __atomic_store_n(&block.state, PLUMB_BLOCK_FREE, __ATOMIC_RELEASE);
  block.leader = slot.entries.head;
  slot.entries.head = index;
  ++slot.entries.count;
  return true;
}

}  // namespace plumb::rt
