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
  std::vector<bool> crosses;                           // result is used in another block
  std::vector<bool> loop_head;                         // by block
  // Variables that only ever hold constants of the source: flags, return codes,
  // and where a cleanup goes on. They steer, so paths are told apart by them.
  std::vector<VarId> flags;
};

}  // namespace plumb::check
