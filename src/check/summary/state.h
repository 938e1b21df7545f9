// What is known at one point of one path (or of several that were merged),
// while one block is followed: the focus.
//
// Memory is a map from places (base value, offset) to values; what is absent
// still has the value it had on entry. Facts are about values, which never
// change.
#pragma once

#include <cstdint>
#include <vector>

#include "check/summary/value.h"

namespace plumb::check {

// How blocks are given back, as the models name it: "malloc", "new[]"; 0: not known.
using FamilyId = std::uint8_t;

inline constexpr std::uint32_t kNotFreed = ~0u;

// The class of an exception: the ProgramSymbolId of its typeinfo, or one of these.
inline constexpr std::uint32_t kNoClass = ~0u;
inline constexpr std::uint32_t kAnyClass = ~0u - 1;

// To a list without repetitions, which is {kAnyClass} when it would get long.
void add_class(std::vector<std::uint32_t>& classes, std::uint32_t thrown);

// What is known of a value: a range, and whether it is not zero.
struct Fact {
  std::int64_t low = INT64_MIN;
  std::int64_t high = INT64_MAX;
  bool nonzero = false;

  bool empty() const { return low > high || (nonzero && low == 0 && high == 0); }
  bool trivial() const { return low == INT64_MIN && high == INT64_MAX && !nonzero; }
  bool operator==(const Fact&) const = default;
};

// Bytes of one object, at most. Larger ones exist; but a program that counts bytes in an
// int says what it does with them, and what it then loses nobody wants to read of.
inline constexpr std::int64_t kLargestObject = (std::int64_t{1} << 30) - 1;

Fact hull(const Fact& a, const Fact& b);
bool are_apart(const Fact& a, const Fact& b);  // no value has both
bool implies(const Fact& known, const Fact& wanted);

struct Cell {
  ValueId base;
  std::int64_t offset = 0;
  std::uint32_t width = 0;
  ValueId value;
  bool operator==(const Cell&) const = default;
};

// What became of the block that is followed.
enum class Fate : std::uint8_t {
  none,     // nothing is followed yet
  live,     // it is somewhere that we see
  freed,    // by this function or what it calls
  escaped,  // somebody else may keep or free it
};

// What one of the paths that were merged knows, sorted by value.
using Way = std::vector<std::pair<ValueId, Fact>>;

struct State {
  std::vector<ValueId> vars;  // simple variables, by VarId; kNoValue: unset
  std::vector<std::pair<std::uint32_t, ValueId>> results;  // live results, by operation
  std::vector<Cell> cells;                                 // sorted by base, offset
  std::vector<std::pair<ValueId, Fact>> facts;             // sorted by value
  // What each of the paths that met knows of the inputs, when they differ in it; of
  // inputs that are followed only. `ways_lost`: there are too many to say.
  std::vector<Way> ways;
  bool ways_lost = false;
  // Blocks other than the focus, and variables that a thread has, that others may reach.
  std::vector<ValueId> given;
  std::uint32_t trail = 0;  // the path that led here: index into the run's trails
  // The return, break or goto by which a scope is being left: the operation, or 0.
  std::uint32_t way_out = 0;
  // Where the followed block was last looked into or passed on: the operation, or 0.
  std::uint32_t used_at = 0;
  // The class of the exception in flight, and of those that are being handled.
  std::uint32_t thrown = kNoClass;
  std::vector<std::uint32_t> caught;
  Fate fate = Fate::none;
  bool merged = false;  // facts were lost
  bool oom = false;     // an allocation other than that of the followed block failed
  // The followed block was to be reallocated and that failed: the null that came
  // back, whether the program looks at it, and the store that put it in the place
  // of the last reference (0: none did).
  ValueId failure = {};
  bool tested = false;
  std::uint32_t lost_at = 0;
  // Freed: by the operation, in the way of a family; kNotFreed, 0: not known.
  std::uint32_t freed_at = kNotFreed;
  FamilyId freed_by = 0;
  // The signs that what is to be returned may have, from where that was said; 0: not
  // said. A walk along a structure joins to a value of which nothing is known.
  std::uint8_t returning = 0;
  std::uint32_t parked = ~0u;  // escaped: the global that has it, a ProgramSymbolId

  const Cell* find_cell(ValueId base, std::int64_t offset) const;
  // The first place of `base` from `offset` on; where there is none, one of a later base.
  std::vector<Cell>::const_iterator first_cell_of(ValueId base,
                                                  std::int64_t offset = INT64_MIN) const;
  void set_cell(ValueId base, std::int64_t offset, std::uint32_t width, ValueId value);
  void drop_cells_of(ValueId base);

  Fact fact(const Values& values, ValueId value) const;
  Fact unlearnt(const Values& values, ValueId value) const;  // of a value that has no entry
  // Says nothing that is not known anyway.
  static bool is_trivial(const Values& values, ValueId value, const Fact& fact);
  // False when this contradicts what is known.
  bool learn(const Values& values, ValueId value, const Fact& fact);

  bool is_given(ValueId block) const;
  void give(ValueId block);

  ValueId result(std::uint32_t operation) const;
  void set_result(std::uint32_t operation, ValueId value);

 private:
  Fact implied(const Values& values, const Value& value) const;  // by what it is made of
};

}  // namespace plumb::check
