// Symbolic values of one analysis, hash-consed: equal values have equal ids.
//
//   integer 5            param 0             what the caller passed
//   object  o            the address of a variable, global, function or block
//   cell (b, 8)          what b[8] held when the function was entered
//   pointer (b, 16)      b plus 16 bytes
//   index (b, i, 4)      b plus i * 4 bytes, i unknown
//   fresh 7              anything at all, but the same each time it is named
//   merge (12, b, 8)     what a place holds where paths meet, at block 12
//   binary, compare, cast   of other values
//   reach b              anything that can be reached from b (lists, trees)
//   pair (a, b)          an aggregate of two words in a register
//   element (c, any)     the address of an element of the container at c; (c, count):
//                        the place of how many it has
//
// A pointer's base is never itself a pointer and its offset never 0, so the
// same place has one name. All elements of a container are one place, see
// container_call.cc. Depth is bounded: a cell of a cell of ... beyond
// kDepth is `reach`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/id.h"
#include "check/model/unit.h"

namespace plumb::check {

struct ValueId : Id<ValueId> {};
inline constexpr ValueId kNoValue = ValueId::of(0);

enum class ValueKind : std::uint8_t {
  none,
  integer,
  param,
  object,
  cell,
  pointer,
  index,
  fresh,
  binary,
  compare,
  cast,
  reach,
  merge,
  pair,
  element,
};

// Which element of a container an address is that of. `found` is one that was looked up,
// which may be the end; each look-up has a number of its own, from `found` on.
enum class Elements : std::uint32_t { first, any, end, count, found };

struct Value {
  ValueKind kind = ValueKind::none;
  Code code = Code::none;
  std::uint8_t depth = 0;
  std::uint32_t width = 0;
  ValueId a = {};
  ValueId b = {};
  std::int64_t number = 0;  // integer, offset, scale, parameter, object, fresh number

  bool operator==(const Value&) const = default;
};

// eq -> ne and so on; none for what is no comparison.
Code negated(Code code);

enum class ObjectKind : std::uint8_t { var, global, function, heap };

// What an `object` value's number means: kind in the low bits, then the index.
struct ObjectId {
  std::int64_t bits = 0;
  static ObjectId of(ObjectKind kind, std::uint32_t index) {
    return {static_cast<std::int64_t>(index) << 2 | static_cast<std::int64_t>(kind)};
  }
  ObjectKind kind() const { return static_cast<ObjectKind>(bits & 3); }
  std::uint32_t index() const { return static_cast<std::uint32_t>(bits >> 2); }
  bool operator==(const ObjectId&) const = default;
};

class Values {
 public:
  Values();

  // The same table again, from all(), to be read only; nothing when it cannot be one.
  static std::optional<Values> restore(std::vector<Value> values);
  const std::vector<Value>& all() const { return values_; }
  // In a table that is only read or written to a file: what an object is called.
  void rename(ValueId id, ObjectId object) { values_[id.index].number = object.bits; }

  const Value& operator[](ValueId id) const { return values_[id.index]; }
  std::size_t size() const { return values_.size(); }

  ValueId integer(std::int64_t number);
  ValueId param(std::uint32_t number);
  ValueId object(ObjectId object);
  ValueId fresh();
  // In a table of a summary: what is there behind the callee, and was not before.
  ValueId merged();
  ValueId cell(ValueId base, std::int64_t offset, std::uint32_t width);
  ValueId pointer(ValueId base, std::int64_t offset);
  ValueId index(ValueId base, ValueId by, std::int64_t scale);
  ValueId reach(ValueId base);
  ValueId pair(ValueId first, ValueId second);
  ValueId element(ValueId container, Elements which);
  ValueId found_element(ValueId container);
  // A word of an aggregate; of one that is not known by its words, kNoValue.
  ValueId word(ValueId aggregate, std::int64_t offset) const;
  // `likely` or `other` save the look-up when they are the one.
  ValueId merge(std::uint32_t block, ValueId place, std::int64_t number, ValueId likely = {},
                ValueId other = {});
  ValueId binary(Code code, ValueId a, ValueId b, std::uint32_t width);
  ValueId compare(Code code, ValueId a, ValueId b, std::uint32_t width);
  ValueId opposite(ValueId comparison);
  ValueId cast(Code code, ValueId a, std::uint32_t width);

  bool is_integer(ValueId id) const { return (*this)[id].kind == ValueKind::integer; }
  bool is_zero(ValueId id) const { return is_integer(id) && (*this)[id].number == 0; }

  // The base of a place and the offset in it.
  struct Place {
    ValueId base;
    std::int64_t offset = 0;
  };
  Place place(ValueId pointer) const;

  // What an address points into: its base, through offsets and indices.
  ValueId target(ValueId id) const { return targets_[id.index]; }
  bool is_heap(ValueId target) const;
  // The same where the address may have a tag in its low bits.
  ValueId tagged_target(ValueId id) const;
  // Is it an array of which some element has a name (a value of the kind `index`)?
  bool has_elements(ValueId target) const { return has_elements_[target.index]; }

  // What the value starts from, through cells, offsets and indices: a
  // parameter, object or fresh value.
  ValueId root(ValueId id) const { return roots_[id.index]; }

 private:
  // value_bits.cc
  std::uint64_t possible_bits(ValueId id, int depth = 0) const;
  ValueId fewer_bits(Code code, ValueId a, std::int64_t by, std::uint32_t width);

  ValueId intern(const Value& value);
  ValueId append(const Value& value);
  void note_origin(const Value& value, ValueId id);
  void grow();

  std::vector<Value> values_;
  std::vector<ValueId> targets_;    // by value
  std::vector<ValueId> roots_;      // by value
  std::vector<bool> has_elements_;  // by value; not of a table that was restored
  // Open addressing: a value and the upper half of its hash, or 0. Other values that are
  // met on the way are told apart without looking at them.
  std::vector<std::uint64_t> slots_;
  std::size_t used_ = 0;
  std::int64_t fresh_ = 0;
};

// True when the value says something about what the caller passed in.
bool about_input(const Values& values, ValueId id);

}  // namespace plumb::check
