#include "check/lower/type_table.h"

#include <algorithm>
#include <utility>

#include <llvm/BinaryFormat/Dwarf.h>

namespace plumb::check {

namespace {

constexpr unsigned kDeepest = 4;          // pointers followed from a variable
constexpr std::size_t kMostTypes = 4096;  // of a unit
constexpr std::size_t kMostFields = 256;  // of a record

// Without the names and qualifiers around it.
const llvm::DIType* bare(const llvm::DIType* type) {
  while (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    switch (derived->getTag()) {
      case llvm::dwarf::DW_TAG_typedef:
      case llvm::dwarf::DW_TAG_const_type:
      case llvm::dwarf::DW_TAG_volatile_type:
      case llvm::dwarf::DW_TAG_restrict_type:
      case llvm::dwarf::DW_TAG_atomic_type:
        type = derived->getBaseType();
        continue;
      default:
        return derived;
    }
  }
  return type;
}

}  // namespace

TypeId TypeTable::at(const llvm::DIType* type, unsigned depth) {
  type = bare(type);
  if (!type || depth > kDeepest || order_.size() >= kMostTypes) return {};
  const auto [entry, fresh] = index_.try_emplace(type, static_cast<std::uint32_t>(order_.size()));
  if (fresh) order_.push_back({type, depth});
  return TypeId::of(entry->second);
}

void TypeTable::add_fields(const llvm::DICompositeType& record, unsigned depth, Type& out) {
  for (const llvm::DINode* element : record.getElements()) {
    const auto* member = llvm::dyn_cast_or_null<llvm::DIDerivedType>(element);
    if (!member || member->isStaticMember() || out.fields.size() >= kMostFields) continue;
    const bool base = member->getTag() == llvm::dwarf::DW_TAG_inheritance;
    if (!base && member->getTag() != llvm::dwarf::DW_TAG_member) continue;
    if (member->isBitField()) continue;  // holds no pointer
    Field field{base ? std::string() : member->getName().str(), member->getOffsetInBits() / 8,
                at(member->getBaseType(), depth)};
    const auto after = std::ranges::upper_bound(out.fields, field.offset, {}, &Field::offset);
    out.fields.insert(after, std::move(field));
  }
}

Type TypeTable::shape_of(const Known& known) {
  Type out;
  if (const auto* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(known.type)) {
    switch (derived->getTag()) {
      case llvm::dwarf::DW_TAG_pointer_type:
      case llvm::dwarf::DW_TAG_reference_type:
      case llvm::dwarf::DW_TAG_rvalue_reference_type:
        out.shape = TypeShape::pointer;
        out.target = at(derived->getBaseType(), known.depth + 1);
        break;
      default:
        break;
    }
  } else if (const auto* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(known.type)) {
    if (composite->getTag() == llvm::dwarf::DW_TAG_array_type) {
      out.shape = TypeShape::array;
      out.target = at(composite->getBaseType(), known.depth);
    } else if (composite->getTag() != llvm::dwarf::DW_TAG_enumeration_type) {
      out.shape = TypeShape::record;
      add_fields(*composite, known.depth, out);
    }
  }
  if (known.type) out.size = known.type->getSizeInBits() / 8;
  return out;
}

std::vector<Type> TypeTable::take() {
  std::vector<Type> out;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const Known known = order_[i];  // a copy: the list grows
    out.push_back(shape_of(known));
  }
  return out;
}

}  // namespace plumb::check
