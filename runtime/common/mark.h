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
  Marker(BlockTable& table, BlockIndex& index) : table_(table), index_(index) {}
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
  void note_all(const uintptr_t* words, size_t count);
  void note_slowly(uintptr_t value);
  void note_block(uint32_t index);
  void take_start();
  void take_index();
  void note_index(uint32_t index, uintptr_t value);
  void note_waiting();
  template <typename Use>
  void for_each_own_piece(const PlumbBlock& block, Use use);
  void drain();
  uint32_t next_lost(Visit& visit);
  void order_from(uint32_t block);
  void claim_from(uint32_t leader);

  BlockTable& table_;
  BlockIndex& index_;
  // From a block's start to its index and from there to its entry means waiting for
  // memory twice. So a few are on their way at a time: rings, of which the oldest is
  // taken when they are full.
  static constexpr uint32_t kWaiting = 16;
  struct WaitingStart {
    uintptr_t start;
    uintptr_t value;
  };
  struct WaitingIndex {
    uint32_t index;
    uintptr_t value;
  };
  WaitingStart starts_[kWaiting];
  WaitingIndex indices_[kWaiting];
  uint32_t starts_begin_ = 0;
  uint32_t starts_end_ = 0;
  uint32_t indices_begin_ = 0;
  uint32_t indices_end_ = 0;

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
