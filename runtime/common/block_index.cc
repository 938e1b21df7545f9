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
      leaf->covering[(page & (kLeafSize - 1)) >> 12] = index;
    }
    if (begin < lowest_) lowest_ = begin;
    if (end > highest_) highest_ = end;
  }
  return true;
}

void BlockIndex::release() {
  if (leaves_ == nullptr) return;
  for (size_t i = lowest_ >> kLeafBits; i <= highest_ >> kLeafBits; ++i) {
    if (leaves_[i] != nullptr) release_own_pages(leaves_[i], sizeof(Leaf));
  }
  release_own_pages(leaves_, kLeaves * sizeof(Leaf*));
  leaves_ = nullptr;
}

uint32_t BlockIndex::find(uintptr_t value) const {
  if (value < lowest_ || value > highest_) return 0;
  // Most references are to a start, and those need one look-up only.
  if (value % (uintptr_t{1} << kGranuleBits) == 0) {
    if (const uint32_t index = table_->find_start(value); index != 0) return index;
  }
  const Leaf* leaf = leaves_[value >> kLeafBits];
  if (leaf == nullptr) return 0;
  const size_t page = (value & (kLeafSize - 1)) >> 12;
  const size_t granule = (value & 4095) >> kGranuleBits;
  const uint64_t* starts = leaf->pages[page].starts;
  size_t word = granule / 64;
  uint64_t bits = starts[word] & (UINT64_MAX >> (63 - granule % 64));
  while (bits == 0 && word > 0) bits = starts[--word];
  uint32_t index = leaf->covering[page];
  if (bits != 0) {
    const size_t start = word * 64 + 63 - static_cast<size_t>(__builtin_clzll(bits));
    index = table_->find_start((value & ~uintptr_t{4095}) + (start << kGranuleBits));
  }
  if (index == 0) return 0;
  const PlumbBlock& block = table_->entry(index);
  return value - block.address <= extent(block) ? index : 0;
}

}  // namespace plumb::rt
