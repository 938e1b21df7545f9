#include "watch/end_blocks.h"

#include "common/heap_layout.h"
#include "watch/model.h"

namespace plumb::rt {

bool EndBlocks::list(const OwnVector<Mapping>& mappings, bool knows_heap, uint64_t most) {
  sample_end_ = model().sample_end();
  reached_ = static_cast<uint8_t*>(own_pages(sample_end_));
  if (reached_ == nullptr || (knows_heap && !heaps_.walk(mappings, most))) return false;
  return list_large(mappings);
}

void EndBlocks::release() {
  if (reached_ != nullptr) release_own_pages(reached_, sample_end_);
  large_.release();
  heaps_.release();
}

void EndBlocks::exclude(OwnVector<Range>& ranges) const {
  ranges.push({arena_range.begin, arena_range.begin + arena_range.size});
  ranges.push(model().other_mapping());
  for (size_t i = 0; i < heaps_.heap_count(); ++i) ranges.push(heaps_.heap_range(i));
  for (size_t i = 0; i < large_.size(); ++i) ranges.push(mapped_chunk(large_[i].range.begin));
}

// Sampled blocks in mappings of their own. What is in neither a mapping nor a heap that
// could be walked counts as a root, with all around it.
bool EndBlocks::list_large(const OwnVector<Mapping>& mappings) {
  for (uint32_t index = 1; index < sample_end_; ++index) {
    if (!model().is_live(index) || model().is_placed(index)) continue;
    const Range range = model().sample_range(index);
    if (heaps_.find(range.begin).end != 0 ||
        !is_whole_mapping(mappings, mapped_chunk(range.begin))) {
      continue;
    }
    large_.push({range, index});
    for (size_t at = large_.size() - 1;
         at > 0 && large_[at - 1].range.begin > large_[at].range.begin; --at) {
      const Large moved = large_[at];
      large_[at] = large_[at - 1];
      large_[at - 1] = moved;
    }
  }
  return !large_.failed();
}

const EndBlocks::Large* EndBlocks::large_around(uintptr_t address) const {
  size_t low = 0;
  size_t high = large_.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (address < large_[middle].range.begin)
      high = middle;
    else
      low = middle + 1;
  }
  return low != 0 && address <= large_[low - 1].range.end ? &large_[low - 1] : nullptr;
}

EndBlock EndBlocks::of_placed(uint32_t index) const {
  return {model().sample_range(index), model().shown_at(index), index};
}

EndBlock EndBlocks::find(uintptr_t address) const {
  if (address - arena_range.begin < arena_range.size) {
    const uint32_t index = model().sample_around(address);
    return index != 0 ? of_placed(index) : EndBlock{};
  }
  if (const Range range = heaps_.find(address); range.end != 0) return {range, range.begin, 0};
  if (const Large* large = large_around(address); large != nullptr) {
    return {large->range, large->range.begin, large->sample};
  }
  return {};
}

EndBlock EndBlocks::of_sample(uint32_t index) const {
  if (!model().is_live(index)) return {};
  if (model().is_placed(index)) return of_placed(index);
  return find(model().sample_range(index).begin);
}

bool EndBlocks::is_reached(const EndBlock& block) const {
  if (block.sample == 0) return heaps_.is_reached(block.range);
  return reached_[block.sample] != 0;
}

void EndBlocks::reach(const EndBlock& block) {
  if (block.sample == 0)
    heaps_.reach(block.range);
  else
    reached_[block.sample] = 1;
}

}  // namespace plumb::rt
