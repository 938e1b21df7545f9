#include "sampled_choice.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// Leaves below this size are not worth a check of their own.
constexpr unsigned kSmall = 24;

bool is_heap(const Value* address) {
  if (address->getType()->getPointerAddressSpace() != 0) return false;
  const Value* base = getUnderlyingObject(address, 12);
  return !isa<AllocaInst>(base) && !isa<GlobalValue>(base) && !isa<Constant>(base);
}

bool is_call(const Instruction& instruction) {
  const auto* call = dyn_cast<CallBase>(&instruction);
  return call && !isa<IntrinsicInst>(call) && !call->isInlineAsm();
}

}  // namespace

Value* heap_address(Instruction& instruction) {
  Value* address = nullptr;
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    address = load->getPointerOperand();
  } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    address = store->getPointerOperand();
  } else if (auto* change = dyn_cast<AtomicRMWInst>(&instruction)) {
    address = change->getPointerOperand();
  } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
    address = exchange->getPointerOperand();
  } else if (auto* fill = dyn_cast<AnyMemIntrinsic>(&instruction)) {
    address = fill->getRawDest();
    auto* transfer = dyn_cast<AnyMemTransferInst>(fill);
    if (transfer && !is_heap(address)) address = transfer->getRawSource();
  }
  return address && is_heap(address) ? address : nullptr;
}

bool can_be_traced(Function& function) {
  if (function.isDeclaration() || function.hasAvailableExternallyLinkage() || function.isVarArg() ||
      function.hasFnAttribute(Attribute::Naked) ||
      function.hasFnAttribute(Attribute::PresplitCoroutine) ||
      function.callsFunctionThatReturnsTwice() || function.hasSection()) {
    return false;
  }
  for (const Argument& argument : function.args()) {
    if (argument.hasInAllocaAttr() || argument.hasSwiftErrorAttr() || argument.hasNestAttr() ||
        argument.getType()->isTokenTy()) {
      return false;
    }
  }
  bool any = false;
  for (Instruction& instruction : instructions(function)) {
    // Memory of a size known only later would go with the tracing version.
    if (auto* variable = dyn_cast<AllocaInst>(&instruction);
        variable && !variable->isStaticAlloca()) {
      return false;
    }
    if (isa<CallBrInst>(instruction) || instruction.getType()->isTokenTy()) return false;
    if (auto* call = dyn_cast<CallInst>(&instruction); call && call->isMustTailCall()) return false;
    if (auto* note = dyn_cast<IntrinsicInst>(&instruction);
        note && (note->getIntrinsicID() == Intrinsic::localescape ||
                 note->getIntrinsicID() == Intrinsic::vastart)) {
      return false;
    }
    any = any || heap_address(instruction);
  }
  return any;
}

bool is_long(const Loop& loop) {
  if (!loop.getSubLoops().empty()) return true;
  for (const BasicBlock* block : loop.blocks()) {
    if (isa<IndirectBrInst>(block->getTerminator())) return true;
    for (const Instruction& instruction : *block) {
      if (is_call(instruction)) return true;
    }
  }
  return false;
}

bool needs_check(const Loop& loop) {
  // A shared place to jump from would cost an interpreter its predictions.
  const auto jumps = [](const BasicBlock* block) {
    return isa<IndirectBrInst>(block->getTerminator());
  };
  return is_long(loop) && none_of(loop.blocks(), jumps);
}

bool needs_entry_check(Function& function, const LoopInfo& loops) {
  if (!loops.empty()) return true;
  unsigned size = 0;
  for (const Instruction& instruction : instructions(function)) {
    if (is_call(instruction)) return true;
    if (++size > kSmall) return true;
  }
  return false;
}

}  // namespace plumb::pass
