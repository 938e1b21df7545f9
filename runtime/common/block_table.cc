#include "common/block_table.h"

#include "common/process.h"
#include "common/spin_lock.h"
#include "common/threads.h"
#include "common/trace_file.h"

namespace plumb::rt {

BlockTable the_block_table;

namespace {

constexpr uint32_t kFresh = 64;  // new entries that a thread takes at once

// Full batches nobody uses, linked through the `ordinal` of their first entry.
uint32_t batches = 0;
SpinLock batches_lock;

}  // namespace

bool BlockTable::prepare() {
  blocks_ = trace().blocks();
  return granules_.prepare();
}

uint32_t BlockTable::end() const {
  const PlumbSection& section = trace().header().sections[PLUMB_SECTION_BLOCKS];
  return static_cast<uint32_t>(section.used < section.capacity ? section.used : section.capacity);
}

uint32_t BlockTable::take(ThreadSlot& slot) {
  if (slot.entries.count == 0) {
    slot.entries = slot.spare;
    slot.spare = {};
  }
  if (slot.entries.count == 0 && batches != 0) {
    batches_lock.lock();
    if (batches != 0) {
      slot.entries = {batches, kBatch};
      batches = static_cast<uint32_t>(blocks_[batches].ordinal);
    }
    batches_lock.unlock();
  }
  if (slot.entries.count != 0) {
    const uint32_t index = slot.entries.head;
    slot.entries.head = blocks_[index].leader;
    --slot.entries.count;
    return index;
  }
  if (slot.fresh == slot.fresh_end) {
    const uint64_t first = trace().take(PLUMB_SECTION_BLOCKS, kFresh);
    if (first == 0) return 0;
    slot.fresh = static_cast<uint32_t>(first);
    slot.fresh_end = slot.fresh + kFresh;
  }
  return slot.fresh++;
}

void BlockTable::give(ThreadSlot& slot, uint32_t index) {
  if (slot.entries.count == kBatch) {
    if (slot.spare.count != 0) {
      batches_lock.lock();
      blocks_[slot.spare.head].ordinal = batches;
      batches = slot.spare.head;
      batches_lock.unlock();
    }
    slot.spare = slot.entries;
    slot.entries = {};
  }
  blocks_[index].leader = slot.entries.head;
  slot.entries.head = index;
  ++slot.entries.count;
}

__attribute__((noinline, cold)) void BlockTable::add(Inside& in, void* address, uint64_t size,
                                                     PlumbApi api, uint32_t stack,
                                                     const Named& name) {
  const uintptr_t place = reinterpret_cast<uintptr_t>(address);
  // Freed behind our back (a library that does not go through us), and now
  // used again.
  if (__builtin_expect(granules_.get(place) != 0, 0)) remove(in, address);

  SlotUse slot(in);
  const uint32_t index = take(*slot);
  if (__builtin_expect(index == 0, 0)) {
    give_up(PLUMB_PROBLEM_TABLE_FULL, "the block table is full");
    return;
  }
  PlumbBlock& block = blocks_[index];
  block.address = place;
  block.size = size;
  block.ordinal = name.ordinal;
  block.stack = stack;
  block.thread = slot->thread;
  block.leader = 0;
  block.api = static_cast<uint8_t>(api);
  block.flags = name.by_caller ? PLUMB_BLOCK_BY_CALLER : 0;
  if (__builtin_expect(in.thread().ignoring > 0, 0)) {
    block.flags |= PLUMB_BLOCK_IGNORED | PLUMB_BLOCK_EXCLUDED;
  }
  __atomic_store_n(&block.state, PLUMB_BLOCK_LIVE, __ATOMIC_RELEASE);
  slot->counters->allocated_blocks += 1;
  slot->counters->allocated_bytes += size;
  if (__builtin_expect(!granules_.set(place, index), 0)) {
    give_up(PLUMB_PROBLEM_OUT_OF_MEMORY, "no memory for the table of addresses");
  }
}

bool BlockTable::adopt(const PlumbBlock& block) {
  const uint64_t index = trace().take(PLUMB_SECTION_BLOCKS, 1);
  if (index == 0) return false;
  blocks_[index] = block;
  blocks_[index].state = PLUMB_BLOCK_LIVE;
  return granules_.set(block.address, static_cast<uint32_t>(index));
}

void BlockTable::forget_adopted() {
  for (uint32_t index = 1; index < end(); ++index) {
    if ((blocks_[index].flags & PLUMB_BLOCK_CUSTOM) == 0) granules_.clear(blocks_[index].address);
  }
  trace().header().sections[PLUMB_SECTION_BLOCKS].used = 1;
}

bool BlockTable::remove(Inside& in, void* address) {
  const uint32_t index = detach(in, address);
  if (index == 0) return false;
  drop(in, index);
  return true;
}

uint32_t BlockTable::detach(Inside&, void* address) {
  const uintptr_t place = reinterpret_cast<uintptr_t>(address);
  const uint32_t index = granules_.get(place);
  // A wrong pointer into the first granule of a block is not the block.
  if (index == 0 || blocks_[index].address != place) return 0;
  granules_.clear(place);
  return index;
}

void BlockTable::reattach(Inside&, uint32_t entry) {
  granules_.set(blocks_[entry].address, entry);  // its leaf is there
}

void BlockTable::drop(Inside& in, uint32_t entry) {
  SlotUse slot(in);
  PlumbBlock& block = blocks_[entry];
  slot->counters->freed_blocks += 1;
  slot->counters->freed_bytes += block.size;
  __atomic_store_n(&block.state, PLUMB_BLOCK_FREE, __ATOMIC_RELEASE);
  give(*slot, entry);
}

void BlockTable::abandon(Inside& in, void* address) {
  const uint32_t index = detach(in, address);
  if (index == 0) return;
  blocks_[index].state = PLUMB_BLOCK_FREE;
  trace().limit(PLUMB_LIMIT_NESTED);
}

void BlockTable::mark_usable(Inside&, void* address) {
  const uint32_t index = granules_.get(reinterpret_cast<uintptr_t>(address));
  if (index != 0) blocks_[index].flags |= PLUMB_BLOCK_USABLE;
}

}  // namespace plumb::rt
