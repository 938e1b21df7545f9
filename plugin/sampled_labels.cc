#include "sampled_labels.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// The tables that hold this address, and nothing else does.
bool note_tables(BlockAddress& address, SetVector<GlobalVariable*>& tables) {
  for (User* user : address.users()) {
    auto* array = dyn_cast<ConstantArray>(user);
    if (!array) return false;
    for (User* holder : array->users()) {
      auto* table = dyn_cast<GlobalVariable>(holder);
      if (!table || !table->isConstant() || !table->hasLocalLinkage()) return false;
      tables.insert(table);
    }
  }
  return true;
}

const Value* table_read(const Value* address) {
  const auto* load = dyn_cast<LoadInst>(address);
  return load ? load->getPointerOperand()->stripInBoundsOffsets() : nullptr;
}

// The address comes from the tables and is nowhere but in the block that jumps.
bool reads_tables(const IndirectBrInst& jump, const SetVector<GlobalVariable*>& tables) {
  const BasicBlock* block = jump.getParent();
  SmallPtrSet<const Value*, 16> seen;
  std::vector<const Value*> work = {jump.getAddress()};
  while (!work.empty()) {
    const Value* value = work.back();
    work.pop_back();
    if (!seen.insert(value).second) continue;
    for (const User* user : value->users()) {
      const auto* place = dyn_cast<Instruction>(user);
      if (!place || place->getParent() != block) return false;
      if (!isa<PHINode>(place) && place != &jump) return false;
    }
    if (const auto* phi = dyn_cast<PHINode>(value)) {
      if (phi->getParent() != block) return false;
      for (const Value* from : phi->incoming_values()) work.push_back(from);
    } else {
      const Value* read = table_read(value);
      const auto* table = dyn_cast_or_null<GlobalVariable>(read);
      if (!table || !tables.contains(const_cast<GlobalVariable*>(table))) return false;
    }
  }
  return true;
}

// Read by this function's loads only.
bool is_only_read(const Value& value, const Function& function) {
  return all_of(value.users(), [&](const User* user) {
    if (const auto* load = dyn_cast<LoadInst>(user)) return load->getFunction() == &function;
    if (isa<GEPOperator>(user)) return is_only_read(*user, function);
    return false;
  });
}

}  // namespace

bool find_label_tables(Function& function, LabelTables& tables) {
  SetVector<GlobalVariable*> found;
  for (BasicBlock& block : function) {
    if (!block.hasAddressTaken()) continue;
    if (!note_tables(*BlockAddress::get(&function, &block), found)) return false;
  }
  if (found.empty()) return false;
  for (const GlobalVariable* table : found) {
    if (!is_only_read(*table, function)) return false;
  }
  tables.jumps.clear();
  for (BasicBlock& block : function) {
    const auto* jump = dyn_cast<IndirectBrInst>(block.getTerminator());
    if (!jump) continue;
    if (!reads_tables(*jump, found)) return false;
    tables.jumps.push_back(&block);
  }
  tables.all.assign(found.begin(), found.end());
  return true;
}

LabelTables copy_label_tables(const LabelTables& tables, Function& from, Function& to,
                              const Blocks& among, ValueToValueMapTy& copies) {
  LabelTables result;
  for (BasicBlock* block : tables.jumps) {
    result.jumps.push_back(cast<BasicBlock>(copies[block]));
  }
  for (GlobalVariable* table : tables.all) {
    const auto* labels = cast<ConstantArray>(table->getInitializer());
    std::vector<Constant*> own;
    for (const Use& use : labels->operands()) {
      auto* label = dyn_cast<BlockAddress>(use.get());
      own.push_back(label && label->getFunction() == &from
                        ? BlockAddress::get(&to, cast<BasicBlock>(copies[label->getBasicBlock()]))
                        : cast<Constant>(use.get()));
    }
    auto* copy = new GlobalVariable(
        *to.getParent(), table->getValueType(), true, GlobalValue::PrivateLinkage,
        ConstantArray::get(labels->getType(), own), table->getName() + ".plumb");
    copy->setAlignment(table->getAlign());
    copy->setUnnamedAddr(table->getUnnamedAddr());
    convertUsersOfConstantsToInstructions({table}, &to);
    table->replaceUsesWithIf(copy, [&](const Use& use) {
      const auto* user = dyn_cast<Instruction>(use.getUser());
      return user && among.contains(const_cast<BasicBlock*>(user->getParent()));
    });
    result.all.push_back(copy);
  }
  return result;
}

void compare_labels(Function& function, Function& copy, ValueToValueMapTy& copies) {
  for (BasicBlock& block : function) {
    if (!block.hasAddressTaken()) continue;
    BlockAddress* copied = BlockAddress::get(&copy, cast<BasicBlock>(copies[&block]));
    copied->replaceAllUsesWith(BlockAddress::get(&function, &block));
  }
  std::vector<IndirectBrInst*> jumps;
  for (BasicBlock& block : copy) {
    if (auto* jump = dyn_cast<IndirectBrInst>(block.getTerminator())) jumps.push_back(jump);
  }
  DenseMap<BasicBlock*, BasicBlock*> originals;
  for (BasicBlock& block : function) originals[cast<BasicBlock>(copies[&block])] = &block;
  for (IndirectBrInst* jump : jumps) {
    BasicBlock* block = jump->getParent();
    SmallSetVector<BasicBlock*, 16> targets;
    for (BasicBlock* target : jump->successors()) {
      // One edge each from now on.
      if (!targets.insert(target)) target->removePredecessor(block, true);
    }
    Value* address = jump->getAddress();
    IRBuilder<> builder(jump);
    BasicBlock* at = block;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      BasicBlock* target = targets[i];
      if (i + 1 == targets.size()) {
        builder.CreateBr(target);
      } else {
        BasicBlock* other = BasicBlock::Create(copy.getContext(), "", &copy);
        Value* same =
            builder.CreateICmpEQ(address, BlockAddress::get(&function, originals.lookup(target)));
        builder.CreateCondBr(same, target, other);
        if (at != block) target->replacePhiUsesWith(block, at);
        builder.SetInsertPoint(other);
        at = other;
        continue;
      }
      if (at != block) target->replacePhiUsesWith(block, at);
    }
    if (targets.empty()) builder.CreateUnreachable();
    jump->eraseFromParent();
  }
}

}  // namespace plumb::pass
