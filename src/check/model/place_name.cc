#include "check/model/place_name.h"

#include <algorithm>

#include <fmt/format.h>

namespace plumb::check {

namespace {

constexpr int kDeepest = 12;  // steps of a name

// The last field that begins at the offset or before it.
const Field* field_at(const Type& record, std::uint64_t offset) {
  const Field* found = nullptr;
  for (const Field& field : record.fields) {
    if (field.offset > offset) break;
    // Of the members of a union the first.
    if (!found || field.offset > found->offset) found = &field;
  }
  return found;
}

Place place_at(const Unit& unit, const Function& function, Operand address, int depth);

std::string index_text(const Unit& unit, const Function& function, Operand index, int depth) {
  if (index.kind() == OperandKind::integer) {
    return fmt::format("{}", function.integers[index.index()]);
  }
  while (index.kind() == OperandKind::result) {
    const Operation& o = function.operations[index.index()];
    if (o.op == Op::load) return place_at(unit, function, o.a, depth + 1).name();
    if (o.op != Op::cast) break;
    index = o.a;
  }
  return {};
}

Place place_at(const Unit& unit, const Function& function, Operand address, int depth) {
  if (depth > kDeepest) return {};
  switch (address.kind()) {
    case OperandKind::var: {
      const Var& var = function.vars[address.index()];
      return {var.name, var.shape, false};
    }
    case OperandKind::symbol: {
      const auto found = std::ranges::find(unit.globals, SymbolId::of(address.index()),
                                           [](const Global& each) { return each.symbol; });
      if (found == unit.globals.end()) return {};
      return {found->display, found->shape, false};
    }
    case OperandKind::result:
      break;
    default:
      return {};
  }
  const Operation& o = function.operations[address.index()];
  switch (o.op) {
    case Op::load:
      return behind(unit, place_at(unit, function, o.a, depth + 1));
    case Op::offset:
      return part_of(unit, place_at(unit, function, o.a, depth + 1), o.immediate);
    case Op::index:
      return element_of(unit, place_at(unit, function, o.a, depth + 1),
                        index_text(unit, function, o.b, depth));
    case Op::cast:
      return place_at(unit, function, o.a, depth + 1);
    default:
      return {};
  }
}

}  // namespace

const Type& type_at(const Unit& unit, TypeId id) {
  static const Type unknown;
  return id.index < unit.types.size() ? unit.types[id.index] : unknown;
}

const Var* parameter_var(const Function& function, std::uint64_t number) {
  std::vector<const Var*> named;
  for (const Var& var : function.vars) {
    if (var.parameter && !var.name.empty()) named.push_back(&var);
  }
  return named.size() == function.params && number < named.size() ? named[number] : nullptr;
}

Place part_of(const Unit& unit, const Place& place, std::int64_t offset) {
  Place at = place;
  if (at.text.empty() || offset < 0) return {};
  auto rest = static_cast<std::uint64_t>(offset);
  for (int step = 0; step < kDeepest; ++step) {
    const Type& type = type_at(unit, at.type);
    if (type.shape == TypeShape::record) {
      const Field* field = field_at(type, rest);
      if (!field) return {};
      rest -= field->offset;
      at.type = field->type;
      if (field->name.empty()) continue;  // its own fields are the record's
      at.text += (at.behind ? "->" : ".") + field->name;
      at.behind = false;
    } else if (type.shape == TypeShape::array) {
      const std::uint64_t size = type_at(unit, type.target).size;
      if (size == 0) return {};
      at = element_of(unit, at, fmt::format("{}", rest / size));
      rest %= size;
    } else if (at.behind && type.size != 0 && rest != 0) {
      // p[2], for a pointer to something that has no parts.
      at = element_of(unit, at, fmt::format("{}", rest / type.size));
      rest %= type.size;
    } else {
      return rest == 0 ? at : Place{};
    }
    if (rest == 0) return at;
  }
  return {};
}

Place element_of(const Unit& unit, const Place& place, const std::string& index) {
  if (place.text.empty()) return {};
  const Type& type = type_at(unit, place.type);
  if (type.shape == TypeShape::array && place.behind) {
    return {fmt::format("(*{})[{}]", place.text, index), type.target, false};
  }
  if (type.shape == TypeShape::array) {
    return {fmt::format("{}[{}]", place.text, index), type.target, false};
  }
  // A pointer to the first of several.
  if (place.behind) return {fmt::format("{}[{}]", place.text, index), place.type, false};
  return {};
}

Place behind(const Unit& unit, const Place& place) {
  const std::string text =
      place.behind && !place.text.empty() ? "(*" + place.text + ")" : place.text;
  const Type& type = type_at(unit, place.type);
  return {text, type.shape == TypeShape::pointer ? type.target : TypeId{}, true};
}

Place place_at(const Unit& unit, const Function& function, Operand address) {
  return place_at(unit, function, address, 0);
}

}  // namespace plumb::check
