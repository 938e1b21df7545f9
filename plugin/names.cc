#include "names.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr unsigned kMaxDepth = 24;

// Members by name for a user: "" for an anonymous structure around them.
DIDerivedType* member_of(Metadata* element) {
  auto* member = dyn_cast<DIDerivedType>(element);
  if (!member) return nullptr;
  const unsigned tag = member->getTag();
  if (tag != dwarf::DW_TAG_member && tag != dwarf::DW_TAG_inheritance) return nullptr;
  return member->isStaticMember() ? nullptr : member;
}

// The library's own insides are not what a user calls things.
bool is_library_type(const DIType* type) {
  for (const DIScope* scope = type ? type->getScope() : nullptr; scope; scope = scope->getScope()) {
    auto* space = dyn_cast<DINamespace>(scope);
    if (space && (space->getName() == "std" || space->getName() == "__gnu_cxx")) return true;
  }
  return false;
}

std::uint64_t size_of(DIType* type) {
  type = Names::stripped(type);
  return type ? type->getSizeInBits() / 8 : 0;
}

}  // namespace

namespace {

// The parameter whose address this slot holds.
Argument* stored_argument(Value* slot) {
  for (User* user : slot->users()) {
    auto* store = dyn_cast<StoreInst>(user);
    if (store && store->getPointerOperand() == slot) {
      if (auto* argument = dyn_cast<Argument>(store->getValueOperand())) return argument;
    }
  }
  return nullptr;
}

}  // namespace

Names::Names(Function& function) : layout_(function.getDataLayout()) {
  for (Instruction& instruction : instructions(function)) {
    for (DbgVariableRecord& record : filterDbgVars(instruction.getDbgRecordRange())) {
      Value* address = record.isDbgAssign() ? record.getAddress() : nullptr;
      if (record.isDbgDeclare()) address = record.getVariableLocationOp(0);
      if (address && record.getExpression()->startsWithDeref()) address = stored_argument(address);
      // An object that is passed in memory is where the caller put it.
      if (address && (isa<AllocaInst>(address) || isa<Argument>(address))) {
        variables_.try_emplace(address, record.getVariable());
      }
    }
  }
}

DILocalVariable* Names::variable(const Value* slot) const { return variables_.lookup(slot); }

DIType* Names::stripped(DIType* type) {
  for (unsigned depth = 0; type && depth < kMaxDepth; ++depth) {
    auto* derived = dyn_cast<DIDerivedType>(type);
    if (!derived) return type;
    switch (derived->getTag()) {
      case dwarf::DW_TAG_typedef:
      case dwarf::DW_TAG_const_type:
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
      case dwarf::DW_TAG_member:
      case dwarf::DW_TAG_inheritance:
        type = derived->getBaseType();
        break;
      default:
        return type;
    }
  }
  return type;
}

bool Names::is_pointer(DIType* type) {
  auto* derived = dyn_cast_or_null<DIDerivedType>(stripped(type));
  if (!derived) return false;
  const unsigned tag = derived->getTag();
  return tag == dwarf::DW_TAG_pointer_type || tag == dwarf::DW_TAG_reference_type ||
         tag == dwarf::DW_TAG_rvalue_reference_type;
}

bool Names::is_pointer_number(DIType* type) {
  for (unsigned depth = 0; type && depth < kMaxDepth; ++depth) {
    auto* derived = dyn_cast<DIDerivedType>(type);
    if (!derived) return false;
    if (derived->getTag() == dwarf::DW_TAG_typedef &&
        (derived->getName() == "uintptr_t" || derived->getName() == "intptr_t")) {
      return true;
    }
    if (derived->getTag() == dwarf::DW_TAG_pointer_type) return false;
    type = derived->getBaseType();
  }
  return false;
}

DIType* Names::pointee(DIType* type) {
  auto* derived = dyn_cast_or_null<DIDerivedType>(stripped(type));
  return derived && is_pointer(derived) ? derived->getBaseType() : nullptr;
}

std::string Names::spelling(DIType* type) {
  if (!type) return {};
  if (auto* derived = dyn_cast<DIDerivedType>(type)) {
    const std::string base =
        derived->getBaseType() ? spelling(derived->getBaseType()) : std::string("void");
    switch (derived->getTag()) {
      case dwarf::DW_TAG_pointer_type:
        return base + (StringRef(base).ends_with("*") ? "*" : " *");
      case dwarf::DW_TAG_reference_type:
        return base + " &";
      case dwarf::DW_TAG_rvalue_reference_type:
        return base + " &&";
      case dwarf::DW_TAG_const_type:
        return StringRef(base).ends_with("*") ? base + "const" : "const " + base;
      case dwarf::DW_TAG_volatile_type:
      case dwarf::DW_TAG_restrict_type:
      case dwarf::DW_TAG_atomic_type:
      case dwarf::DW_TAG_member:
      case dwarf::DW_TAG_inheritance:
        return base;
      default:
        break;
    }
  }
  if (auto* composite = dyn_cast<DICompositeType>(type)) {
    if (composite->getTag() == dwarf::DW_TAG_array_type) {
      return spelling(composite->getBaseType()) + "[]";
    }
    const bool plain_c = composite->getIdentifier().empty();
    const std::string name = composite->getName().str();
    if (name.empty()) return composite->getTag() == dwarf::DW_TAG_union_type ? "union" : "struct";
    if (!plain_c) return name;
    return (composite->getTag() == dwarf::DW_TAG_union_type ? "union " : "struct ") + name;
  }
  if (isa<DISubroutineType>(type)) return "function";
  return type->getName().str();
}

Named Names::global_at(const GlobalVariable* global) const {
  SmallVector<DIGlobalVariableExpression*, 1> expressions;
  global->getDebugInfo(expressions);
  Named named;
  named.storage = global->isThreadLocal() ? Storage::thread : Storage::global;
  if (expressions.empty()) {
    named.text = global->getName().str();
    if (!global->hasName() || global->hasPrivateLinkage()) named.text.clear();
    return named;
  }
  named.text = expressions.front()->getVariable()->getName().str();
  named.type = expressions.front()->getVariable()->getType();
  return named;
}

// The member at `offset`, and further in as long as it lies there. Of a union,
// the member that can be a pointer when one is wanted.
Named Names::step_into(Named object, std::uint64_t offset, bool wants_pointer) const {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    auto* composite = dyn_cast_or_null<DICompositeType>(stripped(object.type));
    if (composite && is_library_type(composite)) object.inside += offset;
    if (!composite || is_library_type(composite)) break;
    if (composite->getTag() == dwarf::DW_TAG_array_type) {
      DIType* element = composite->getBaseType();
      const std::uint64_t size = size_of(element);
      if (size == 0) break;
      if (object.through_pointer) object.text = "(*" + object.text + ")";
      object.through_pointer = false;
      object.text += "[" + std::to_string(offset / size) + "]";
      object.type = element;
      offset %= size;
      continue;
    }
    DIDerivedType* best = nullptr;
    const bool is_union = composite->getTag() == dwarf::DW_TAG_union_type;
    for (Metadata* element : composite->getElements()) {
      DIDerivedType* member = member_of(element);
      if (!member || member->isBitField()) continue;
      const std::uint64_t begin = member->getOffsetInBits() / 8;
      const std::uint64_t size = size_of(member->getBaseType());
      if (offset < begin || offset >= begin + size) continue;
      if (best && !(is_union && wants_pointer && !is_pointer(best->getBaseType()))) continue;
      best = member;
    }
    if (!best) break;
    offset -= best->getOffsetInBits() / 8;
    object.type = best->getBaseType();
    const StringRef name = best->getName();
    if (best->getTag() == dwarf::DW_TAG_inheritance || name.empty()) continue;
    object.text += (object.through_pointer ? "->" : ".") + name.str();
    if (object.through_pointer) object.storage = Storage::heap;
    object.through_pointer = false;
  }
  return object;
}

std::string Names::index_text(Value* index, unsigned depth) const {
  if (auto* constant = dyn_cast<ConstantInt>(index))
    return std::to_string(constant->getSExtValue());
  while (auto* cast = dyn_cast<CastInst>(index)) index = cast->getOperand(0);
  if (auto* load = dyn_cast<LoadInst>(index)) {
    const Named named = object_at(load->getPointerOperand(), depth + 1);
    if (named.known()) return named.expression();
  }
  return {};
}

Named Names::element_of(GEPOperator* gep, unsigned depth) const {
  Named object = object_at(gep->getPointerOperand(), depth + 1);
  if (!object.known()) return object;
  unsigned position = 0;
  for (gep_type_iterator at = gep_type_begin(gep), end = gep_type_end(gep); at != end;
       ++at, ++position) {
    Value* index = at.getOperand();
    auto* constant = dyn_cast<ConstantInt>(index);
    if (StructType* structure = at.getStructTypeOrNull()) {
      const std::uint64_t offset =
          layout_.getStructLayout(structure)->getElementOffset(constant->getZExtValue());
      // One step at a time: the next index chooses within the member.
      auto* composite = dyn_cast_or_null<DICompositeType>(stripped(object.type));
      if (composite && is_library_type(composite)) {
        object.inside += offset;
        continue;
      }
      DIDerivedType* found = nullptr;
      if (composite) {
        for (Metadata* element : composite->getElements()) {
          DIDerivedType* member = member_of(element);
          if (member && !member->isBitField() && member->getOffsetInBits() / 8 == offset) {
            if (!found || size_of(found->getBaseType()) == 0) found = member;
          }
        }
      }
      if (!found) {
        object = step_into(object, offset, true);
        continue;
      }
      object.type = found->getBaseType();
      if (found->getTag() != dwarf::DW_TAG_inheritance && !found->getName().empty()) {
        object.text += (object.through_pointer ? "->" : ".") + found->getName().str();
        if (object.through_pointer) object.storage = Storage::heap;
        object.through_pointer = false;
      }
      continue;
    }
    if (position == 0) {
      if (constant && constant->isZero()) continue;
      // Bytes into a structure, or an element of what a pointer points to.
      const std::uint64_t stride = at.getSequentialElementStride(layout_);
      if (constant && stride == 1 && isa_and_nonnull<DICompositeType>(stripped(object.type))) {
        object = step_into(object, constant->getZExtValue(), true);
        continue;
      }
      if (!object.through_pointer) continue;  // beyond a variable: no name for that
      object.text += "[" + index_text(index, depth) + "]";
      object.through_pointer = false;
      object.storage = Storage::heap;
      continue;
    }
    if (object.through_pointer) object.text = "(*" + object.text + ")";
    object.through_pointer = false;
    object.text += "[" + index_text(index, depth) + "]";
    auto* array = dyn_cast_or_null<DICompositeType>(stripped(object.type));
    object.type =
        array && array->getTag() == dwarf::DW_TAG_array_type ? array->getBaseType() : nullptr;
  }
  return object;
}

Named Names::pointer_of(Value* value, unsigned depth) const {
  if (depth > kMaxDepth) return {};
  if (auto* load = dyn_cast<LoadInst>(value))
    return object_at(load->getPointerOperand(), depth + 1);
  if (auto* gep = dyn_cast<GEPOperator>(value))
    return pointer_of(gep->getPointerOperand(), depth + 1);
  return {};
}

Named Names::object_at(Value* address, unsigned depth) const {
  if (depth > kMaxDepth) return {};
  if (isa<AllocaInst>(address) || isa<Argument>(address)) {
    DILocalVariable* named = variable(address);
    if (!named) return {};
    return {named->getName().str(), named->getType(),
            named->isParameter() ? Storage::parameter : Storage::local, false};
  }
  if (auto* global = dyn_cast<GlobalVariable>(address)) return global_at(global);
  if (auto* gep = dyn_cast<GEPOperator>(address)) return element_of(gep, depth);
  if (auto* call = dyn_cast<CallBase>(address);
      call && call->getIntrinsicID() == Intrinsic::threadlocal_address) {
    return object_at(call->getArgOperand(0), depth + 1);
  }
  if (auto* load = dyn_cast<LoadInst>(address)) {
    Named pointer = object_at(load->getPointerOperand(), depth + 1);
    if (!pointer.known()) return {};
    // A reference is its object.
    auto* derived = dyn_cast_or_null<DIDerivedType>(stripped(pointer.type));
    const bool reference = derived && derived->getTag() != dwarf::DW_TAG_pointer_type;
    Named object;
    object.text = pointer.through_pointer ? "(*" + pointer.text + ")" : pointer.text;
    object.type = pointee(pointer.type);
    object.storage = Storage::heap;
    object.through_pointer = !reference;
    return object;
  }
  return {};
}

bool Names::pointers_in(DIType* type, std::uint64_t offset, const std::string& prefix,
                        std::vector<Member>& members, std::size_t limit) {
  if (is_pointer(type) || is_pointer_number(type)) {
    if (members.size() == limit) return false;
    members.push_back({offset, prefix});
    return true;
  }
  auto* composite = dyn_cast_or_null<DICompositeType>(stripped(type));
  if (!composite) return true;
  if (composite->getTag() == dwarf::DW_TAG_array_type) {
    DIType* element = composite->getBaseType();
    const std::uint64_t size = size_of(element);
    if (size == 0) return true;
    std::vector<Member> inside;
    if (!pointers_in(element, 0, "", inside, limit)) return false;
    if (inside.empty()) return true;
    const std::uint64_t count = composite->getSizeInBits() / 8 / size;
    if (count * inside.size() > limit - members.size()) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
      for (const Member& member : inside) {
        members.push_back({offset + i * size + member.offset,
                           prefix + "[" + std::to_string(i) + "]" + member.name});
      }
    }
    return true;
  }
  for (Metadata* element : composite->getElements()) {
    DIDerivedType* member = member_of(element);
    if (!member || member->isBitField()) continue;
    const std::uint64_t at = offset + member->getOffsetInBits() / 8;
    // Members of a union share their place: the first that is a pointer has it.
    if (composite->getTag() == dwarf::DW_TAG_union_type &&
        any_of(members, [at](const Member& known) { return known.offset == at; })) {
      continue;
    }
    const bool nameless =
        member->getName().empty() || member->getTag() == dwarf::DW_TAG_inheritance;
    if (!pointers_in(member->getBaseType(), at,
                     nameless ? prefix : prefix + "." + member->getName().str(), members, limit)) {
      return false;
    }
  }
  return true;
}

}  // namespace plumb::pass
