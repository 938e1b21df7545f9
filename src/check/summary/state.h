// What is known at one point of one path (or of several that were merged).
//
// Memory is a map from places (base value, offset) to values; what is absent
// still has the value it had on entry. Facts are about values, which never
// change. Each block of memory that the path allocated, and that is neither
// freed nor out of our sight, is in `heap`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "check/summary/value.h"

namespace plumb::check {

// What is known of a value: a range, and one number that it is not.
struct Fact {
  std::int64_t low = INT64_MIN;
  std::int64_t high = INT64_MAX;
  bool nonzero = false;

  bool empty() const { return low > high || (nonzero && low == 0 && high == 0); }
  bool trivial() const { return low == INT64_MIN && high == INT64_MAX && !nonzero; }
  bool operator==(const Fact&) const = default;
};

struct Cell {
  ValueId base;
  std::int64_t offset = 0;
  std::uint32_t width = 0;
  ValueId value;
  bool operator==(const Cell&) const = default;
};

// A step of the path that led here, newest first.
struct Trail {
  std::uint32_t operation = 0;
  std::int8_t branch = -1;  // of a branch: 1 taken, 0 not taken
  std::uint32_t exit = 0;   // of a call: which case of the summary
  std::uint32_t length = 0;
  std::shared_ptr<const Trail> before;
};

struct HeapBlock {
  std::uint32_t object = 0;  // ObjectId index
  std::uint32_t origin = 0;  // index into the run's origins
  bool maybe_null = true;    // not yet tested
  bool operator==(const HeapBlock&) const = default;
};

struct State {
  std::vector<ValueId> vars;  // simple variables, by VarId; kNoValue: unset
  std::vector<std::pair<std::uint32_t, ValueId>> results;  // live results, by operation
  std::vector<Cell> cells;                                 // sorted by base, offset
  std::vector<std::pair<ValueId, Fact>> facts;             // sorted by value
  std::vector<HeapBlock> heap;
  std::vector<ValueId> freed;    // inputs that this function freed
  std::vector<ValueId> escaped;  // inputs that became reachable from elsewhere
  std::shared_ptr<const Trail> trail;
  bool merged = false;  // facts were lost

  const Cell* find_cell(ValueId base, std::int64_t offset) const;
  void set_cell(ValueId base, std::int64_t offset, std::uint32_t width, ValueId value);
  void drop_cells_of(ValueId base);

  Fact fact(const Values& values, ValueId value) const;
  // False when this contradicts what is known.
  bool learn(const Values& values, ValueId value, const Fact& fact);

  HeapBlock* find_heap(std::uint32_t object);
  void forget_heap(std::uint32_t object);

  ValueId result(std::uint32_t operation) const;
  void set_result(std::uint32_t operation, ValueId value);
};

}  // namespace plumb::check
