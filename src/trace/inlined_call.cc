#include "trace/inlined_call.h"

#include <dwarf.h>

#include <optional>

#include "trace/die_walk.h"
#include "trace/type_path.h"

namespace plumb {

namespace {

// The type without names of its own and without "const".
std::optional<Dwarf_Die> peeled(std::optional<Dwarf_Die> type) {
  while (type && (dwarf_tag(&*type) == DW_TAG_const_type || dwarf_tag(&*type) == DW_TAG_typedef)) {
    type = type_of(&*type);
  }
  return type;
}

bool is_pointer(std::optional<Dwarf_Die> type) {
  return type && dwarf_tag(&*type) == DW_TAG_pointer_type;
}

// The function that an inlined call is of.
std::optional<Dwarf_Die> origin_of(Dwarf_Die call) {
  Dwarf_Attribute attribute;
  Dwarf_Die function;
  if (dwarf_formref_die(dwarf_attr(&call, DW_AT_abstract_origin, &attribute), &function) ==
      nullptr) {
    return std::nullopt;
  }
  return function;
}

}  // namespace

bool is_const_member(Dwarf_Die call) {
  const std::optional<Dwarf_Die> function = origin_of(call);
  if (!function) return false;
  for (DieWalk walk(*function); !walk.done(); walk.skip()) {
    if (walk.tag() != DW_TAG_formal_parameter) continue;
    Dwarf_Attribute attribute;
    bool artificial = false;
    const bool is_this =
        dwarf_formflag(dwarf_attr_integrate(walk.die(), DW_AT_artificial, &attribute),
                       &artificial) == 0 &&
        artificial;
    const std::optional<Dwarf_Die> given = is_this ? peeled(type_of(walk.die())) : std::nullopt;
    if (!given) return false;
    Dwarf_Die pointer = *given;
    std::optional<Dwarf_Die> object = type_of(&pointer);
    return object && dwarf_tag(&*object) == DW_TAG_const_type;
  }
  return false;
}

bool gives_pointer(Dwarf_Die call) {
  std::optional<Dwarf_Die> function = origin_of(call);
  if (!function) return false;
  // A member function's type is with its declaration.
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_formref_die(dwarf_attr_integrate(&*function, DW_AT_type, &attribute), &type) !=
          nullptr &&
      is_pointer(peeled(type))) {
    return true;
  }
  for (DieWalk walk(*function); !walk.done(); walk.skip()) {
    if (walk.tag() != DW_TAG_formal_parameter) continue;
    std::optional<Dwarf_Die> given = peeled(type_of(walk.die()));
    const bool refers = given && (is_pointer(given) || dwarf_tag(&*given) == DW_TAG_reference_type);
    if (refers && is_pointer(peeled(type_of(&*given)))) return true;
  }
  return false;
}

bool is_given(Dwarf_Die call, const std::string& type) {
  const std::optional<Dwarf_Die> function = origin_of(call);
  if (!function) return false;
  for (DieWalk walk(*function); !walk.done(); walk.skip()) {
    if (walk.tag() != DW_TAG_formal_parameter) continue;
    std::optional<Dwarf_Die> given = peeled(type_of(walk.die()));
    if (!given) continue;
    const int tag = dwarf_tag(&*given);
    if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
        tag != DW_TAG_rvalue_reference_type) {
      continue;
    }
    const std::optional<Dwarf_Die> target = type_of(&*given);
    if (target && type_name(*target) == type) return true;
  }
  return false;
}

}  // namespace plumb
