// Decides about every block: reachable, lost, or lost with another lost one.
//
// Reachable: a chain of references from a root. Of the rest, a block is DIRECT
// when no other lost block refers to it, or when it stands for a cycle that
// nothing lost outside the cycle refers to; everything a DIRECT block reaches
// is INDIRECT and names it as its leader.
//
// The second part is Kosaraju's idea: order the lost blocks by when a
// depth-first walk is done with them; then, from the last one backwards, each
// block that nobody has claimed yet is the head of its component, and claims
// what it reaches. No recursion; 20 bytes per lost block.
#pragma once

#include <stdint.h>

#include "common/block_index.h"
#include "common/memory.h"

namespace plumb::rt {

// A word with only these bits may be a reference as well (tags in the upper
// bits). 0: words are taken as they are.
extern uintptr_t pointer_mask;

class Marker {
 public:
  Marker(BlockTable& table, const BlockIndex& index) : table_(table), index_(index) {}
  bool prepare();  // false: no memory
  void release();

  // References in the range, and all that follows from them, are reachable.
  void mark_range(Range range);
  void mark_value(uintptr_t value);

  // After all roots.
  bool sort_out_lost();

  uint64_t scanned_bytes() const { return scanned_; }

 private:
  struct Visit {
    uint32_t block;
    uint32_t connected;  // see BlockIndex
    uint64_t from_word;
  };
  uint32_t find(uintptr_t value) const;
  void note(uintptr_t value);  // mark and push, soon
  void note_block(uint32_t index);
  void note_waiting();
  template <typename Use>
  void for_each_own_piece(const PlumbBlock& block, Use use);
  void drain();
  uint32_t next_lost(Visit& visit);
  void order_from(uint32_t block);
  void claim_from(uint32_t leader);

  BlockTable& table_;
  const BlockIndex& index_;
  // Looking up a reference and then its block means waiting for memory twice. So a
  // few are on their way at a time: a word waits for the place with its index to be
  // fetched, the index for the block's entry.
  static constexpr uint32_t kWaiting = 16;
  uintptr_t words_[kWaiting] = {};
  uint32_t indices_[kWaiting] = {};
  uint32_t next_word_ = 0;
  uint32_t next_index_ = 0;

  uint32_t* pending_ = nullptr;  // each block is pushed once at most
  uint32_t pending_count_ = 0;
  Visit* path_ = nullptr;
  uint32_t* order_ = nullptr;
  uint32_t ordered_ = 0;
  uint64_t scanned_ = 0;
  size_t capacity_ = 0;
  size_t lost_ = 0;
};

}  // namespace plumb::rt
