#include "slots.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace plumb::pass {

bool pointer_offsets(Type* type, const DataLayout& layout, std::uint64_t offset,
                     std::vector<std::uint64_t>& offsets, std::size_t limit) {
  if (type->isPointerTy()) {
    if (offsets.size() == limit) return false;
    offsets.push_back(offset);
    return true;
  }
  if (auto* structure = dyn_cast<StructType>(type)) {
    if (structure->isOpaque()) return true;
    const StructLayout* places = layout.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i) {
      if (!pointer_offsets(structure->getElementType(i), layout,
                           offset + places->getElementOffset(i), offsets, limit)) {
        return false;
      }
    }
    return true;
  }
  if (auto* array = dyn_cast<ArrayType>(type)) {
    std::vector<std::uint64_t> inside;
    if (!pointer_offsets(array->getElementType(), layout, 0, inside, limit)) return false;
    if (inside.empty()) return true;
    const std::uint64_t size = layout.getTypeAllocSize(array->getElementType());
    if (array->getNumElements() > limit) return false;
    for (std::uint64_t i = 0; i < array->getNumElements(); ++i) {
      for (const std::uint64_t at : inside) {
        if (offsets.size() == limit) return false;
        offsets.push_back(offset + i * size + at);
      }
    }
  }
  return true;
}

namespace {

// A parameter's slot that only ever has what the caller passed.
bool only_holds_argument(const AllocaInst& place) {
  for (const User* user : place.users()) {
    if (isa<LoadInst>(user) || isa<IntrinsicInst>(user)) continue;
    auto* store = dyn_cast<StoreInst>(user);
    if (!store || store->getValueOperand() == &place || !isa<Argument>(store->getValueOperand())) {
      return false;
    }
  }
  return true;
}

}  // namespace

DenseMap<const AllocaInst*, Slot> slots_of(Function& function, const Names& names) {
  const DataLayout& layout = function.getDataLayout();
  DenseMap<const AllocaInst*, Slot> slots;
  for (Instruction& instruction : instructions(function)) {
    auto* place = dyn_cast<AllocaInst>(&instruction);
    if (!place || !place->isStaticAlloca()) continue;
    const std::optional<TypeSize> size = place->getAllocationSize(layout);
    if (!size || size->isScalable() || *size > kMaxTracked) continue;
    Slot slot;
    slot.place = place;
    slot.variable = names.variable(place);
    const bool aggregate = place->getAllocatedType()->isAggregateType();
    // Unnamed single values are the compiler's own: the result, an exception.
    if (!slot.variable && !aggregate) continue;
    if (!pointer_offsets(place->getAllocatedType(), layout, 0, slot.pointers, kMaxPointers)) {
      continue;
    }
    if (slot.variable) {
      // Unions and numbers that stand for pointers are not to be seen in the IR.
      std::vector<Member> members;
      if (Names::pointers_in(slot.variable->getType(), 0, "", members, kMaxPointers)) {
        for (const Member& member : members) {
          if (member.offset + 8 <= *size && !is_contained(slot.pointers, member.offset)) {
            slot.pointers.push_back(member.offset);
          }
        }
      }
      slot.parameter = slot.variable->isParameter();
      slot.reassigned = slot.parameter && !aggregate && !only_holds_argument(*place);
    }
    if (slot.pointers.empty()) continue;
    for (User* user : place->users()) {
      auto* intrinsic = dyn_cast<IntrinsicInst>(user);
      if (!intrinsic) continue;
      if (intrinsic->getIntrinsicID() == Intrinsic::lifetime_start) {
        slot.starts.push_back(intrinsic);
      } else if (intrinsic->getIntrinsicID() == Intrinsic::lifetime_end) {
        slot.ends.push_back(intrinsic);
      }
    }
    // A temporary without a scope is the result or a parameter in pieces.
    if (!slot.variable && slot.ends.empty()) continue;
    slots.try_emplace(place, std::move(slot));
  }
  return slots;
}

}  // namespace plumb::pass
