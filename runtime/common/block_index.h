// From any value to the block it refers to, in constant time. Built for the
// scan, when nothing is allocated or freed any more.
//
// For each page of a leaf: a bit per granule where a block starts, and the
// block that covers the page's first byte, if one does. The block for a value
// is the last start at or before it in its page, or else the covering one.
#pragma once

#include <stdint.h>

#include "common/block_table.h"
#include "common/memory.h"

namespace plumb::rt {

class BlockIndex {
 public:
  // Over all entries that are not free. False: no memory.
  bool build(BlockTable& table);
  void release();

  // From the block's start to one past its end, or 0.
  uint32_t find(uintptr_t value) const;
  // What a look-up of this value reads first.
  void prefetch(uintptr_t value) const {
    if (const Leaf* leaf = leaves_[value >> kLeafBits]; leaf != nullptr) {
      __builtin_prefetch(&leaf->pages[(value & (kLeafSize - 1)) >> 12]);
    }
    if (const uint32_t* place = table_->granules().look(value); place != nullptr) {
      __builtin_prefetch(place);
    }
  }
  // False: it is not in any block.
  bool may_refer(uintptr_t value) const {
    if (__builtin_expect(customs_.size() != 0, 0)) return value >> kAddressBits == 0;
    return value >= lowest_ && value <= highest_;
  }

  // Custom blocks (common/custom_blocks.h) lie in other memory: in an ordinary
  // block, most often, to which a reference to them is one as well.
  size_t custom_count() const { return customs_.size(); }
  Range custom_range(size_t number) const { return customs_[number].range; }
  // The first one that begins at or after this address, as a number.
  size_t first_custom(uintptr_t address) const;
  // Blocks that this one is connected to without holding a reference: an ordinary
  // one to the custom blocks in it, a custom one to what it lies in. 0: no more.
  uint32_t connected(uint32_t index, uint32_t number) const;

  // What the block's references and contents extend over.
  uint64_t extent(const PlumbBlock& block) const;

 private:
  static constexpr size_t kPagesPerLeaf = kLeafSize / 4096;
  struct Page {
    uint64_t starts[4];
  };
  struct Leaf {
    Page pages[kPagesPerLeaf];
    uint32_t covering[kPagesPerLeaf];
  };
  struct Custom {
    Range range;
    uint32_t index;
  };
  Leaf* leaf_for(uintptr_t address);
  void sort_customs();
  uint32_t find_custom(uintptr_t value) const;
  uint32_t find_ordinary(uintptr_t value) const;

  BlockTable* table_ = nullptr;
  Leaf** leaves_ = nullptr;
  uintptr_t lowest_ = UINTPTR_MAX;
  uintptr_t highest_ = 0;
  OwnVector<Custom> customs_;  // by address
};

}  // namespace plumb::rt
