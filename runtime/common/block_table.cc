#include "common/block_table.h"

#include "common/trace_file.h"

namespace plumb::rt {

BlockTable the_block_table;

bool BlockTable::prepare() {
  blocks_ = trace().blocks();
  return granules_.prepare();
}

uint32_t BlockTable::end() const {
  const PlumbSection& section = trace().header().sections[PLUMB_SECTION_BLOCKS];
  return static_cast<uint32_t>(section.used < section.capacity ? section.used : section.capacity);
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
  empty();
}

void BlockTable::empty() { trace().header().sections[PLUMB_SECTION_BLOCKS].used = 1; }

}  // namespace plumb::rt
