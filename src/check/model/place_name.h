// Names of places as the source would write them: `l->head`, `cache[3].name`.
#pragma once

#include <cstdint>
#include <string>

#include "check/model/unit.h"

namespace plumb::check {

// Something in memory: what an expression of the source names, or, `behind` it,
// what it points to.
struct Place {
  std::string text;  // empty: it has no name
  TypeId type;
  bool behind = false;

  // `*p` for what is behind p.
  std::string name() const { return behind && !text.empty() ? "*" + text : text; }
};

const Type& type_at(const Unit& unit, TypeId id);

// The variable of a parameter; nullptr where the model has none for it.
const Var* parameter_var(const Function& function, std::uint64_t number);

// The member or element `offset` bytes into the place; without a name if there is none.
Place part_of(const Unit& unit, const Place& place, std::int64_t offset);
// One of the elements, `index` says which.
Place element_of(const Unit& unit, const Place& place, const std::string& index);
// What the pointer in the place points to.
Place behind(const Unit& unit, const Place& place);

// The place whose address the operand is.
Place place_at(const Unit& unit, const Function& function, Operand address);

}  // namespace plumb::check
