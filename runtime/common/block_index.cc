#include "common/block_index.h"

#include "common/heap_layout.h"
#include "common/memory.h"

namespace plumb::rt {

uint64_t BlockIndex::extent(const PlumbBlock& block) const {
  if ((block.flags & PLUMB_BLOCK_USABLE) == 0) return block.size;
  const uint64_t usable = usable_size(block.address);
  // A damaged header must not make the block grow without bound.
  return usable > block.size && usable - block.size < block.size + kPage ? usable : block.size;
}

BlockIndex::Leaf* BlockIndex::leaf_for(uintptr_t address) {
  if (address >> kAddressBits != 0) return nullptr;
  Leaf*& leaf = leaves_[address >> kLeafBits];
  if (leaf == nullptr) leaf = static_cast<Leaf*>(own_pages(sizeof(Leaf)));
  return leaf;
}

bool BlockIndex::build(BlockTable& table) {
  table_ = &table;
  leaves_ = static_cast<Leaf**>(own_pages(kLeaves * sizeof(Leaf*)));
  if (leaves_ == nullptr) return false;
  for (uint32_t index = 1; index < table.end(); ++index) {
    const PlumbBlock& block = table.entry(index);
    if (block.state == PLUMB_BLOCK_FREE) continue;
    if ((block.flags & PLUMB_BLOCK_CUSTOM) != 0) {
      if (!customs_.push({{block.address, block.address + block.size}, index})) return false;
      continue;
    }
    const uintptr_t begin = block.address;
    const uintptr_t end = begin + extent(block);  // one past the end counts
    Leaf* leaf = leaf_for(begin);
    if (leaf == nullptr) return false;
    const size_t granule = (begin & 4095) >> kGranuleBits;
    leaf->pages[(begin & (kLeafSize - 1)) >> 12].starts[granule / 64] |= uint64_t{1}
                                                                         << (granule % 64);
    for (uintptr_t page = page_up(begin + 1); page <= end; page += kPage) {
      leaf = leaf_for(page);
      if (leaf == nullptr) return false;
      leaf->pages[(page & (kLeafSize - 1)) >> 12].covering = index;
    }
    if (begin < lowest_) lowest_ = begin;
    if (end > highest_) highest_ = end;
  }
  sort_customs();
  return true;
}

void BlockIndex::release() {
  customs_.release();
  if (leaves_ == nullptr) return;
  for (size_t i = lowest_ >> kLeafBits; i <= highest_ >> kLeafBits; ++i) {
    if (leaves_[i] != nullptr) release_own_pages(leaves_[i], sizeof(Leaf));
  }
  release_own_pages(leaves_, kLeaves * sizeof(Leaf*));
  leaves_ = nullptr;
}

// Heap sort: no memory, no worst case.
void BlockIndex::sort_customs() {
  const auto sift = [this](size_t root, size_t end) {
    while (2 * root + 1 < end) {
      size_t child = 2 * root + 1;
      if (child + 1 < end && customs_[child].range.begin < customs_[child + 1].range.begin) ++child;
      if (customs_[root].range.begin >= customs_[child].range.begin) return;
      const Custom moved = customs_[root];
      customs_[root] = customs_[child];
      customs_[child] = moved;
      root = child;
    }
  };
  const size_t count = customs_.size();
  for (size_t i = count / 2; i-- > 0;) sift(i, count);
  for (size_t end = count; end-- > 1;) {
    const Custom last = customs_[end];
    customs_[end] = customs_[0];
    customs_[0] = last;
    sift(0, end);
  }
}

size_t BlockIndex::first_custom(uintptr_t address) const {
  size_t low = 0;
  size_t high = customs_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (customs_[middle].range.begin < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint32_t BlockIndex::find_custom(uintptr_t value) const {
  const size_t behind = first_custom(value + 1);
  if (behind == 0) return 0;
  const Custom& custom = customs_[behind - 1];
  return value <= custom.range.end ? custom.index : 0;
}

uint32_t BlockIndex::connected(uint32_t index, uint32_t number) const {
  if (customs_.size() == 0) return 0;
  const PlumbBlock& block = table_->entry(index);
  if ((block.flags & PLUMB_BLOCK_CUSTOM) != 0) {
    return number == 0 ? find_ordinary(block.address) : 0;
  }
  const size_t custom = first_custom(block.address) + number;
  if (custom >= customs_.size()) return 0;
  return customs_[custom].range.begin < block.address + block.size ? customs_[custom].index : 0;
}

uint32_t BlockIndex::find(uintptr_t value) const {
  if (__builtin_expect(customs_.size() != 0, 0)) {
    if (const uint32_t custom = find_custom(value); custom != 0) return custom;
  }
  return find_ordinary(value);
}

uint32_t BlockIndex::find_ordinary(uintptr_t value) const {
  if (value < lowest_ || value > highest_) return 0;
  // Most references are to a start, and those need one look-up only.
  if (value % (uintptr_t{1} << kGranuleBits) == 0) {
    if (const uint32_t index = table_->find_start(value); index != 0) return index;
  }
  const Page* page = page_of(value);
  if (page == nullptr) return 0;
  const size_t granule = (value & 4095) >> kGranuleBits;
  const uint64_t* starts = page->starts;
  size_t word = granule / 64;
  uint64_t bits = starts[word] & (UINT64_MAX >> (63 - granule % 64));
  while (bits == 0 && word > 0) bits = starts[--word];
  uint32_t index = page->covering;
  if (bits != 0) {
    const size_t start = word * 64 + 63 - static_cast<size_t>(__builtin_clzll(bits));
    index = table_->find_start((value & ~uintptr_t{4095}) + (start << kGranuleBits));
  }
  if (index == 0) return 0;
  const PlumbBlock& block = table_->entry(index);
  return value - block.address <= extent(block) ? index : 0;
}

BlockIndex::Candidate BlockIndex::look(uintptr_t value) const {
  const Page* page = page_of(value);
  if (page == nullptr) return {};
  const size_t granule = (value & 4095) >> kGranuleBits;
  size_t word = granule / 64;
  uint64_t bits = page->starts[word] & (UINT64_MAX >> (63 - granule % 64));
  while (bits == 0 && word > 0) bits = page->starts[--word];
  if (bits == 0) return {0, page->covering_done != 0 ? 0 : page->covering};
  const auto bit = 63 - static_cast<size_t>(__builtin_clzll(bits));
  if ((page->done[word] >> bit & 1) != 0) return {};
  return {(value & ~uintptr_t{4095}) + ((word * 64 + bit) << kGranuleBits), 0};
}

void BlockIndex::set_done(uintptr_t start) {
  const size_t granule = (start & 4095) >> kGranuleBits;
  page_of(start)->done[granule / 64] |= uint64_t{1} << (granule % 64);
}

void BlockIndex::set_covering_done(uintptr_t value) { page_of(value)->covering_done = 1; }

}  // namespace plumb::rt
