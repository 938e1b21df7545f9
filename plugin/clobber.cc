#include "clobber.h"

#include "abi.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "mark.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// Accesses of the type that may be anything: characters, unions, plain copies.
bool has_type(const Instruction& access) {
  const MDNode* tag = access.getMetadata(LLVMContext::MD_tbaa);
  if (!tag || tag->getNumOperands() < 2) return false;
  auto* type = dyn_cast_or_null<MDNode>(tag->getOperand(1));
  auto* name = type && type->getNumOperands() ? dyn_cast<MDString>(type->getOperand(0)) : nullptr;
  return name && name->getString() != "omnipotent char";
}

enum class Effect {
  unknown,
  none,    // writes nothing of the program's
  blocks,  // frees: only what lies in a block can change
};

Effect effect_of(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  if (!callee || callee->hasLocalLinkage() || !callee->isDeclaration()) return Effect::unknown;
  const StringRef name = callee->getName();
  static const StringSet<> quiet = {"malloc",
                                    "calloc",
                                    "aligned_alloc",
                                    "memalign",
                                    "strdup",
                                    "strndup",
                                    "printf",
                                    "fprintf",
                                    "vprintf",
                                    "vfprintf",
                                    "puts",
                                    "putchar",
                                    "fputs",
                                    "fputc",
                                    "putc",
                                    "fwrite",
                                    "fflush",
                                    "write",
                                    "perror",
                                    "_Znwm",
                                    "_Znam",
                                    "_ZnwmSt11align_val_t",
                                    "_ZnamSt11align_val_t"};
  if (quiet.contains(name)) return Effect::none;
  static const StringSet<> freeing = {"free", "realloc", "reallocarray", kFree};
  if (freeing.contains(name) || name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv")) {
    return Effect::blocks;
  }
  return Effect::unknown;
}

}  // namespace

PointerPlace place_of(LoadInst& load) {
  return {&load, load.getPointerOperand(), MemoryLocation::get(&load), has_type(load)};
}

PointerPlace place_of(StoreInst& store) {
  return {&store, store.getPointerOperand(), MemoryLocation::get(&store), has_type(store)};
}

bool is_same_place(const Value* one, const Value* other, const DataLayout& layout) {
  if (one == other) return true;
  APInt at(64, 0);
  APInt there(64, 0);
  const Value* base = one->stripAndAccumulateConstantOffsets(layout, at, true);
  return base == other->stripAndAccumulateConstantOffsets(layout, there, true) && at == there;
}

bool Clobber::call_may_change(CallBase& call, const PointerPlace& place, BatchAAResults& aliases) {
  const Effect effect = effect_of(call);
  if (effect == Effect::none) return false;
  if (effect == Effect::blocks && isa<GlobalVariable>(getUnderlyingObject(place.address, 0))) {
    return false;
  }
  return isModSet(aliases.getModRefInfo(&call, place.memory));
}

bool Clobber::may_change(Instruction& writer, const PointerPlace& place, BatchAAResults& aliases) {
  if (as_mark(writer)) return false;
  if (auto* store = dyn_cast<StoreInst>(&writer)) {
    const TypeSize size = layout_.getTypeStoreSize(store->getValueOperand()->getType());
    if (!size.isScalable() && size < 8) return false;
    if (place.typed && !has_type(*store)) return false;
    return aliases.alias(MemoryLocation::get(store), place.memory) != AliasResult::NoAlias;
  }
  if (auto* call = dyn_cast<CallBase>(&writer)) return call_may_change(*call, place, aliases);
  return isModSet(aliases.getModRefInfo(&writer, place.memory));
}

}  // namespace plumb::pass
