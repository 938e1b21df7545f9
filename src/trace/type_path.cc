#include "trace/type_path.h"

#include <dwarf.h>

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trace/die_walk.h"

namespace plumb {

namespace {

// Types of damaged files can contain themselves.
constexpr int kDeepest = 16;
constexpr int kMostMembers = 4096;

Dwarf_Die peeled(Dwarf_Die type) {
  Dwarf_Die plain;
  return dwarf_peel_type(&type, &plain) == 0 ? plain : type;
}

bool is_record(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

// A declaration's members are where it is defined; only within one unit, which
// is what compilers need to see themselves.
std::optional<std::uint64_t> number_of(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr_integrate(die, attribute, &found), &value) != 0) return {};
  return value;
}

std::optional<std::string> path_in(Dwarf_Die type, std::uint64_t offset, int depth);

std::optional<std::string> path_in_record(Dwarf_Die record, std::uint64_t offset, int depth) {
  int members = 0;
  for (DieWalk walk(record); !walk.done() && members < kMostMembers; walk.skip(), ++members) {
    const int tag = walk.tag();
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    // Static members have no place in it.
    if (dwarf_hasattr(walk.die(), DW_AT_external) != 0) continue;
    const std::uint64_t at = number_of(walk.die(), DW_AT_data_member_location).value_or(0);
    const std::optional<Dwarf_Die> member = type_of(walk.die());
    if (!member || offset < at || offset - at >= size_of_type(*member)) continue;
    const char* name = dwarf_diename(walk.die());
    const bool named = tag == DW_TAG_member && name != nullptr && *name != '\0';
    if (named && is_reserved(name)) return "";
    std::optional<std::string> rest = path_in(*member, offset - at, depth + 1);
    if (rest) return named ? fmt::format(".{}{}", name, *rest) : *rest;
  }
  return std::nullopt;
}

std::optional<std::string> path_in(Dwarf_Die type, std::uint64_t offset, int depth) {
  if (depth > kDeepest) return std::nullopt;
  Dwarf_Die plain = peeled(type);
  const int tag = dwarf_tag(&plain);
  if (is_record(tag)) return path_in_record(plain, offset, depth);
  if (tag == DW_TAG_array_type) {
    const std::optional<Dwarf_Die> element = type_of(&plain);
    const std::uint64_t size = element ? size_of_type(*element) : 0;
    if (size == 0) return std::nullopt;
    std::optional<std::string> rest = path_in(*element, offset % size, depth + 1);
    if (!rest) return std::nullopt;
    return fmt::format("[{}]{}", offset / size, *rest);
  }
  if (offset != 0 || size_of_type(plain) < sizeof(void*)) return std::nullopt;
  return "";
}

}  // namespace

bool is_reserved(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

const char* name_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

std::optional<Dwarf_Die> type_of(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr) {
    return std::nullopt;
  }
  return type;
}

std::uint64_t size_of_type(Dwarf_Die type) {
  Dwarf_Word size = 0;
  Dwarf_Die plain = peeled(type);
  const int tag = dwarf_tag(&plain);
  if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
      tag == DW_TAG_rvalue_reference_type) {
    return sizeof(void*);
  }
  return dwarf_aggregate_size(&plain, &size) == 0 ? size : 0;
}

std::optional<std::string> path_to_pointer(Dwarf_Die type, std::uint64_t offset) {
  return path_in(type, offset, 0);
}

bool is_number(Dwarf_Die type) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    Dwarf_Die plain = peeled(type);
    if (dwarf_tag(&plain) != DW_TAG_array_type) return dwarf_tag(&plain) == DW_TAG_base_type;
    const std::optional<Dwarf_Die> element = type_of(&plain);
    if (!element) return false;
    type = *element;
  }
  return false;
}

std::optional<std::string> path_through(Dwarf_Die type, const std::string& pointer,
                                        std::uint64_t offset) {
  Dwarf_Die plain = peeled(type);
  const int tag = dwarf_tag(&plain);
  if (tag != DW_TAG_pointer_type && tag != DW_TAG_reference_type &&
      tag != DW_TAG_rvalue_reference_type) {
    return std::nullopt;
  }
  const std::optional<Dwarf_Die> target = type_of(&plain);
  if (!target) return std::nullopt;  // void
  const std::uint64_t size = size_of_type(*target);
  if (size == 0) return std::nullopt;
  const std::uint64_t index = offset / size;
  Dwarf_Die plain_target = peeled(*target);
  const std::optional<std::string> path = path_in(plain_target, offset % size, 0);
  if (!path) return std::nullopt;
  if (!is_record(dwarf_tag(&plain_target))) {
    if (index == 0) return fmt::format("*{}{}", pointer, *path);
    return fmt::format("{}[{}]{}", pointer, index, *path);
  }
  if (index != 0) return fmt::format("{}[{}]{}", pointer, index, *path);
  if (path->empty()) return pointer;  // the library's own
  if (tag != DW_TAG_pointer_type) return pointer + *path;
  return fmt::format("{}->{}", pointer, path->substr(1));
}

std::string type_name(Dwarf_Die type) {
  std::string behind;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const int tag = dwarf_tag(&type);
    const char* name = dwarf_diename(&type);
    if (name != nullptr) return std::string(name) + behind;
    const std::optional<Dwarf_Die> inner = type_of(&type);
    std::string_view sign;
    if (tag == DW_TAG_pointer_type) sign = "*";
    if (tag == DW_TAG_reference_type) sign = "&";
    if (tag == DW_TAG_rvalue_reference_type) sign = "&&";
    if (tag == DW_TAG_array_type) sign = "[]";
    if (!sign.empty()) {
      behind = (behind.empty() || behind[0] != ' ' ? " " : "") + std::string(sign) +
               (behind.starts_with(' ') ? behind.substr(1) : behind);
    }
    if (!inner) return sign.empty() ? "" : "void" + behind;
    type = *inner;
  }
  return "";
}

}  // namespace plumb
