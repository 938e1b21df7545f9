// What the runs of a function need to know of its shape: loops, and where
// results are used last.
#pragma once

#include <cstdint>
#include <vector>

#include "check/model/unit.h"

namespace plumb::check {

struct Shape {
  explicit Shape(const Function& body);

  std::vector<std::uint32_t> block_of;                 // by operation
  std::vector<std::vector<std::uint32_t>> dies_after;  // results by last use in their block
  std::vector<bool> ignored;                           // by operation: nobody looks at the result
  std::vector<bool> crosses;                           // result is used in another block
  std::vector<bool> loop_head;                         // by block
  // By block, for a loop head: the last block that jumps back to it. Blocks are in
  // reverse post-order, so the loop lies between the two.
  std::vector<std::uint32_t> loop_end;
  std::vector<bool> in_loop;  // by block
  // By block: results of other blocks that are still used here or later. Only when
  // asked for.
  std::vector<std::vector<std::uint32_t>> live_in;
  void find_live(const Function& body);

  // By block: how many blocks it is to one of these, or UINT32_MAX.
  std::vector<std::uint32_t> distances(const Function& body,
                                       const std::vector<std::uint32_t>& to) const;
  // Does the end of the block lead out of the blocks `first` to `last`?
  static bool leaves(const Function& body, BlockIndex block, std::uint32_t first,
                     std::uint32_t last);
  // Variables that only ever hold constants of the source: flags, return codes,
  // and where a cleanup goes on. They steer, so paths are told apart by them.
  std::vector<VarId> flags;
  // By block: those of `flags` (bit by index, the first 64) that are still read here
  // or later before they are set again.
  std::vector<std::uint64_t> live_flags;
  // Bits of those that say where a cleanup goes on.
  std::uint64_t ways_on = 0;
  // By variable: it holds what the function returns, or will.
  std::vector<bool> returned;

 private:
  void find_live_flags(const Function& body);
  void find_returned(const Function& body);
};

}  // namespace plumb::check
