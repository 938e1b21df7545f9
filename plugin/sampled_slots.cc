#include "sampled_slots.h"

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace plumb::pass {

bool is_used_elsewhere(const Instruction& value) {
  return any_of(value.users(), [&](const User* user) {
    const auto* instruction = cast<Instruction>(user);
    return instruction->getParent() != value.getParent() || isa<PHINode>(instruction);
  });
}

void Slots::make_for_halves() {
  if (!halves_.is_split()) return;
  std::vector<Instruction*> values;
  for (Instruction& value : instructions(function_)) {
    const auto* copies = halves_.copies.find(&value);
    if (isa<AllocaInst>(value) || copies == halves_.copies.end()) continue;
    const auto is_needed = [](Value* copy) { return is_used_elsewhere(*cast<Instruction>(copy)); };
    if (is_used_elsewhere(value) || any_of(copies->second, is_needed)) values.push_back(&value);
  }
  for (Instruction* value : values) of(value);
}

AllocaInst* Slots::of(Value* value) {
  if (AllocaInst* known = slots_.lookup(value)) return known;
  AllocaInst* slot = make(value->getType());
  slots_[value] = slot;
  put_in(value, slot);
  for (Value* copy : halves_.copies.lookup(value)) put_in(copy, slot);
  return slot;
}

AllocaInst* Slots::make(Type* type) {
  return IRBuilder<>(&*function_.getEntryBlock().getFirstInsertionPt()).CreateAlloca(type);
}

void Slots::put_in(Value* value, AllocaInst* slot) {
  if (auto* call = dyn_cast<InvokeInst>(value)) {
    SplitEdge(call->getParent(), call->getNormalDest());
  }
  std::vector<Use*> uses;
  for (Use& use : value->uses()) uses.push_back(&use);
  DenseMap<std::pair<PHINode*, BasicBlock*>, Value*> loaded;
  for (Use* use : uses) {
    auto* user = cast<Instruction>(use->getUser());
    if (auto* phi = dyn_cast<PHINode>(user)) {
      BasicBlock* from = phi->getIncomingBlock(*use);
      Value*& again = loaded[{phi, from}];
      if (!again) {
        again = IRBuilder<>(from->getTerminator()).CreateLoad(value->getType(), slot);
      }
      use->set(again);
    } else {
      use->set(IRBuilder<>(user).CreateLoad(value->getType(), slot));
    }
  }
  IRBuilder<> builder(function_.getContext());
  if (isa<Argument>(value)) {
    builder.SetInsertPoint(function_.getEntryBlock().getTerminator());
  } else if (auto* phi = dyn_cast<PHINode>(value)) {
    builder.SetInsertPoint(phi->getParent(), phi->getParent()->getFirstInsertionPt());
  } else if (auto* call = dyn_cast<InvokeInst>(value)) {
    BasicBlock* normal = call->getNormalDest();
    builder.SetInsertPoint(normal, normal->getFirstInsertionPt());
  } else {
    builder.SetInsertPoint(cast<Instruction>(value)->getNextNode());
  }
  builder.CreateStore(value, slot);
}

void Slots::promote() {
  removeUnreachableBlocks(function_);
  std::vector<AllocaInst*> all;
  for (const auto& [value, slot] : slots_) all.push_back(slot);
  DominatorTree dominators(function_);
  PromoteMemToReg(all, dominators);
}

}  // namespace plumb::pass
