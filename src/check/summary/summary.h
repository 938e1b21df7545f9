// What a call of a function can do: a small set of cases, each with the
// conditions under which it happens and its effects on memory.
//
// Everything is said in values over the parameters and what they reached on
// entry (value.h), in a table of the summary's own: a summary does not depend
// on the function that it was made from, and can be instantiated anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/summary/state.h"
#include "check/summary/value.h"

namespace plumb::check {

struct Guard {
  ValueId value;
  Fact fact;
};

struct NewBlock {
  std::uint32_t object = 0;  // the number that `object` values of the summary use
  std::uint32_t origin = 0;  // index into Summary::origins
  std::string family;
  bool maybe_null = false;
};

struct Case {
  bool throws = false;
  ValueId result = kNoValue;
  std::vector<Guard> guards;
  std::vector<Cell> writes;  // to memory that the caller can see
  std::vector<ValueId> freed;
  std::vector<ValueId> escaped;  // reachable from somewhere else from now on
  std::vector<NewBlock> blocks;  // that the caller gets
};

// Where a block was allocated: an operation of a function, and when that is a
// call, the place in the callee, and so on down to the allocator.
struct Origin {
  std::uint32_t function = 0;  // FunctionId
  std::uint32_t operation = 0;
  std::uint32_t callee = kNone;  // FunctionId, or kNone: the operation calls the allocator
  std::uint32_t inner = 0;       // index into the callee's origins

  static constexpr std::uint32_t kNone = ~0u;
  bool operator==(const Origin&) const = default;
};

struct Summary {
  Values values;
  std::vector<Case> cases;  // none: the function does not return
  std::vector<Origin> origins;
  bool known = false;      // false: nothing is known, treat it as unknown code
  bool truncated = false;  // a budget was hit
};

}  // namespace plumb::check
