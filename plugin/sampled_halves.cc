#include "sampled_halves.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "sampled_choice.h"
#include "sampled_places.h"

using namespace llvm;

namespace plumb::pass {

namespace {

bool is_used_elsewhere(const Instruction& value) {
  return any_of(value.users(), [&](const User* user) {
    const auto* instruction = cast<Instruction>(user);
    return instruction->getParent() != value.getParent() || isa<PHINode>(instruction);
  });
}

bool all_can_be_kept(Function& function) {
  return all_of(instructions(function), [](const Instruction& value) {
    return isa<AllocaInst>(value) || !is_used_elsewhere(value) || can_be_kept(value);
  });
}

// Heads of loops, of whatever shape, and where computed gotos lead.
SmallSetVector<BasicBlock*, 16> crossing_heads(Function& function, const LabelTables& tables) {
  SmallSetVector<BasicBlock*, 16> heads;
  const auto add = [&](BasicBlock* block) {
    // An address of a label is the half's own.
    if (block->isEHPad() || is_contained(tables.jumps, block)) return;
    if (block != &function.getEntryBlock()) heads.insert(block);
  };
  SmallVector<std::pair<const BasicBlock*, const BasicBlock*>, 16> edges;
  FindFunctionBackedges(function, edges);
  for (const auto& edge : edges) add(const_cast<BasicBlock*>(edge.second));
  for (BasicBlock* jump : tables.jumps) {
    for (BasicBlock* target : successors(jump)) add(target);
  }
  return heads;
}

using Edges = SmallVector<Loop::Edge, 8>;

// The analyses are not kept up to date, and must not be: they would have phis put into
// the new blocks.
std::vector<BasicBlock*> split_ways_out(const Edges& edges) {
  std::vector<BasicBlock*> ways;
  for (const auto& [from, to] : edges) {
    auto* branch = dyn_cast<BranchInst>(from->getTerminator());
    if (!branch || to->isEHPad()) continue;
    if (branch->isConditional() && branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    ways.push_back(SplitEdge(const_cast<BasicBlock*>(from), const_cast<BasicBlock*>(to)));
  }
  return ways;
}

void copy_blocks(Function& function, Halves& halves) {
  std::vector<BasicBlock*> copies;
  for (BasicBlock* block : halves.traced) {
    BasicBlock* copy = CloneBasicBlock(block, halves.plain, ".plain", &function);
    halves.plain[block] = copy;
    copies.push_back(copy);
  }
  // Variables are both halves' own.
  std::vector<Instruction*> variables;
  for (Instruction& instruction : function.getEntryBlock()) {
    if (!isa<AllocaInst>(instruction)) continue;
    variables.push_back(cast<Instruction>(halves.plain[&instruction]));
    halves.plain[&instruction] = &instruction;
  }
  for (Instruction* variable : variables) variable->eraseFromParent();
  for (BasicBlock* copy : copies) {
    for (Instruction& instruction : *copy) {
      RemapInstruction(&instruction, halves.plain,
                       RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
  }
}

// The halves have the variables by turns: they may not share their memory.
void drop_lifetimes(Function& function) {
  std::vector<Instruction*> removed;
  for (Instruction& instruction : instructions(function)) {
    auto* note = dyn_cast<IntrinsicInst>(&instruction);
    if (note && note->isLifetimeStartOrEnd()) removed.push_back(note);
  }
  for (Instruction* instruction : removed) instruction->eraseFromParent();
}

}  // namespace

void make_halves(Function& function, const LabelTables& tables, Halves& halves) {
  for (BasicBlock& block : function) halves.traced.push_back(&block);
  const auto heads = crossing_heads(function, tables);
  if (heads.empty() || !all_can_be_kept(function)) return;
  drop_lifetimes(function);
  Edges edges;
  SmallPtrSet<BasicBlock*, 16> short_ones;
  {
    DominatorTree dominators(function);
    const LoopInfo loops(dominators);
    for (BasicBlock* head : heads) {
      const Loop* loop = loops.getLoopFor(head);
      if (!loop || loop->getHeader() != head || is_long(*loop)) continue;
      short_ones.insert(head);
      Edges out;
      loop->getExitEdges(out);
      edges.append(out.begin(), out.end());
    }
  }
  const std::vector<BasicBlock*> ways_out = split_ways_out(edges);
  std::vector<std::pair<BasicBlock*, bool>> bodies;
  for (BasicBlock* head : heads) {
    BasicBlock* body = SplitBlock(head, head->getFirstNonPHIIt());
    bodies.emplace_back(body, short_ones.contains(head));
  }
  halves.traced.clear();
  for (BasicBlock& block : function) halves.traced.push_back(&block);
  copy_blocks(function, halves);
  const auto copy = [&](BasicBlock* block) { return cast<BasicBlock>(halves.plain[block]); };
  for (const auto& [body, is_short] : bodies) {
    halves.crossings.push_back({body, copy(body), is_short});
  }
  for (BasicBlock* way : ways_out) halves.returns.push_back({way, copy(way), true});
  if (!tables.all.empty()) {
    Blocks copies;
    for (BasicBlock* block : halves.traced) copies.insert(copy(block));
    copy_label_tables(tables, function, function, copies, halves.plain);
  }
}

void Slots::make_for_halves() {
  if (!halves_.is_split()) return;
  std::vector<Instruction*> values;
  for (Instruction& value : instructions(function_)) {
    const auto copy = halves_.plain.find(&value);
    if (isa<AllocaInst>(value) || copy == halves_.plain.end()) continue;
    // What ended a block may have been replaced in one of the halves.
    auto* other = dyn_cast_or_null<Instruction>(static_cast<Value*>(copy->second));
    if (is_used_elsewhere(value) || (other && is_used_elsewhere(*other))) {
      values.push_back(&value);
    }
  }
  for (Instruction* value : values) of(value);
}

AllocaInst* Slots::of(Value* value) {
  if (AllocaInst* known = slots_.lookup(value)) return known;
  AllocaInst* slot = make(value->getType());
  slots_[value] = slot;
  const auto copy = halves_.plain.find(value);
  Value* other = copy == halves_.plain.end() ? nullptr : static_cast<Value*>(copy->second);
  put_in(value, slot);
  if (other && other != value) put_in(other, slot);
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
