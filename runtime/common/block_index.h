// From any value to the block it refers to, in constant time. Built for the
// scan, when nothing is allocated or freed any more.
//
// For each page of a leaf: a bit per granule where a block starts, and the
// block that covers the page's first byte, if one does. The block for a value
// is the last start at or before it in its page, or else the covering one.
#pragma once

#include <stdint.h>

#include "common/block_table.h"

namespace plumb::rt {

class BlockIndex {
 public:
  // Over all entries that are not free. False: no memory.
  bool build(BlockTable& table);
  void release();

  // From the block's start to one past its end, or 0.
  uint32_t find(uintptr_t value) const;

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
  Leaf* leaf_for(uintptr_t address);

  BlockTable* table_ = nullptr;
  Leaf** leaves_ = nullptr;
  uintptr_t lowest_ = UINTPTR_MAX;
  uintptr_t highest_ = 0;
};

}  // namespace plumb::rt
