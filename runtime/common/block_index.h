// From any value to the block it refers to, in constant time. Built for the
// scan, when nothing is allocated or freed any more.
//
// For each page of a leaf: a bit per granule where a block starts, and the
// block that covers the page's first byte, if one does. The block for a value
// is the last start at or before it in its page, or else the covering one.
// These pages are a fiftieth of the heap, so most look-ups end in a cache: there is
// a second bit for each start that says whether the marking has been there.
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

  // The first half of a look-up, among ordinary blocks that are not marked as done.
  struct Candidate {
    uintptr_t start;  // of a block that may have the value; 0: see index
    uint32_t index;   // of one that begins in another page; 0: none
  };
  Candidate look(uintptr_t value) const;
  // What look() will read.
  void prefetch_page(uintptr_t value) const {
    if (value < lowest_ || value > highest_) return;
    if (const Page* page = page_of(value); page != nullptr) __builtin_prefetch(page);
  }
  void prefetch(const Candidate& candidate) const {
    const uint32_t* place = table_->granules().look(candidate.start);
    if (place != nullptr) __builtin_prefetch(place);
  }
  // References to the block need not be looked at again.
  void set_done(uintptr_t start);
  // The same for the one that covers the start of this value's page.
  void set_covering_done(uintptr_t value);
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
    uint64_t done[4];
    uint32_t covering;
    uint32_t covering_done;
  };
  struct Leaf {
    Page pages[kPagesPerLeaf];
  };
  Page* page_of(uintptr_t value) const {
    Leaf* leaf = leaves_[value >> kLeafBits];
    return leaf == nullptr ? nullptr : &leaf->pages[(value & (kLeafSize - 1)) >> 12];
  }
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
