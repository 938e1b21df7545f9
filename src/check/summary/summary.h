// What a call of a function does, said so that any caller can use it.
//
// The plain effect is what the function does to memory in general: one
// description, joined over all its paths. Beside it stands, for each block that
// matters by itself, the set of cases of that block alone: a block that the
// function allocates and hands out, or one that the caller gave it and that it
// frees, keeps, stores or returns. Each case has the conditions on the inputs
// under which it happens. That one block's cases are independent of another's
// keeps their number small.
//
// Everything is said in values over the parameters and what they reached on
// entry (value.h), in a table of the summary's own. Blocks that the function
// allocated are numbered; number 0 is the tracked block itself.
#pragma once

#include <cstdint>
#include <vector>

#include "check/summary/state.h"
#include "check/summary/value.h"

namespace plumb::check {

inline constexpr std::uint32_t kNotParked = ~0u;

struct Guard {
  ValueId value;
  Fact fact;
};

// Conditions that hold together, of a case that has several such.
struct GuardSet {
  std::vector<Guard> guards;
};

// One way in which things go for a tracked block.
struct Case {
  bool throws = false;
  std::vector<std::uint32_t> thrown;  // the classes
  Fate fate = Fate::live;
  bool in_place = false;    // an input: still where the caller had it
  bool by_content = false;  // what is in the block decided it
  bool oom = false;         // only when an allocation fails
  FamilyId freed_by = 0;
  ValueId result = kNoValue;
  Fact result_fact;
  std::vector<Guard> guards;  // hold in any case
  // When the case comes about in different ways: one of these holds. Empty: nothing
  // more than the guards is known.
  std::vector<GuardSet> ways;
  bool ways_lost = false;             // there are more than are listed; then none is
  std::uint32_t parked = kNotParked;  // escaped: the global that has it, a ProgramSymbolId
  std::vector<Cell> holders;          // the places that hold it, or hold what holds it
  // What this case writes besides, where the plain effect knows less: the length
  // of an array, the flag that says who owns it. Facts about these are among the
  // guards.
  std::vector<Cell> beside;
};

// Where a block was allocated: an operation of a function, and when that is a
// call, the block of the callee, and so on down to the allocator.
struct Origin {
  std::uint32_t function = 0;  // FunctionId
  std::uint32_t operation = 0;
  std::uint32_t callee = kNone;  // FunctionId, or kNone: the operation calls the allocator
  std::uint32_t inner = 0;       // index into the callee's `blocks`

  static constexpr std::uint32_t kNone = ~0u;
  bool operator==(const Origin&) const = default;
};

// A block that the caller may get.
struct NewBlock {
  Origin origin;
  FamilyId family = 0;
  std::vector<Case> cases;
};

// A value that the caller gives: a parameter, or what is found below one.
struct Input {
  ValueId value;
  std::vector<Case> cases;
};

// What `from` held, the new block `to` holds in its place: realloc.
struct Move {
  ValueId from;
  ValueId to;
  bool operator==(const Move&) const = default;
};

// What is known of the inputs when the result has a certain sign: a status says why
// it is what it is.
enum class Sign : std::uint8_t { negative, zero, positive, nonzero };
inline constexpr std::size_t kSigns = 4;

struct Meaning {
  bool possible = false;
  std::vector<Guard> guards;  // hold in any case
  // When it comes about for several reasons: one of these holds. Empty: nothing more than
  // the guards is known.
  std::vector<GuardSet> ways;
};

// An exception that leaves the function, when one of these holds. Empty: nothing is known
// of when.
struct Throw {
  std::uint32_t thrown = kAnyClass;
  std::vector<GuardSet> ways;
};

struct Effect {
  bool returns = false;
  ValueId result = kNoValue;
  Fact result_fact;
  std::vector<Meaning> meanings;  // by Sign; empty: the result says nothing
  std::vector<Cell> writes;
  std::vector<Move> moves;
  std::vector<Throw> throws;
};

// Limits of the analysis of one function. What lies beyond is taken as safe.
enum class Cut : std::uint8_t {
  work,    // operations
  cells,   // places that one state knows
  states,  // ways to hold a block
  cases,   // ways in which things go for a block
  blocks,  // that are handed out
  inputs,  // that are freed, kept or handed on
};
inline constexpr std::size_t kCuts = 6;

struct Summary {
  Values values;
  Effect effect;
  std::vector<NewBlock> blocks;
  std::vector<Input> inputs;
  bool known = false;    // false: nothing is known, treat it as unknown code
  bool complete = true;  // false: more inputs are touched than are listed
  bool over_budget = false;
  std::uint8_t cuts = 0;  // limits that were hit: a bit for each Cut
  // Globals out of which something is freed, kept or handed on (ProgramSymbolIds),
  // collected when blocks that are parked in globals are asked for.
  std::vector<std::uint32_t> taken_from;
  // Those of which not only the block itself that they hold was freed, but something that
  // is in it may have been freed, kept or handed on.
  std::vector<std::uint32_t> taken_below;
  // Globals out of which this function, or one that it calls, may free, keep or hand
  // on something (ProgramSymbolIds, sorted): a caller that left a block there does not
  // know what became of it.
  std::vector<std::uint32_t> may_take;
  // Functions of which nothing is known, and to which a block went out of sight: one
  // entry for each block (ProgramSymbolIds).
  std::vector<std::uint32_t> handed_to;
};

}  // namespace plumb::check
