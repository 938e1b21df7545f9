#include "sampled_halves.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "sampled_choice.h"
#include "sampled_places.h"
#include "sampled_slots.h"

using namespace llvm;

namespace plumb::pass {

namespace {

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

void note_copies(const ValueToValueMapTy& copy, ArrayRef<BasicBlock*> blocks, Halves& halves) {
  const auto note = [&](Value* value) {
    const auto known = copy.find(value);
    if (known == copy.end()) return;
    auto* other = static_cast<Value*>(known->second);
    if (other && other != value) halves.copies[value].push_back(other);
  };
  for (BasicBlock* block : blocks) {
    note(block);
    for (Instruction& instruction : *block) {
      if (!instruction.getType()->isVoidTy()) note(&instruction);
    }
  }
}

void clone_blocks(Function& function, ArrayRef<BasicBlock*> blocks, ValueToValueMapTy& copy) {
  for (BasicBlock* block : blocks) {
    copy[block] = CloneBasicBlock(block, copy, ".plain", &function);
  }
}

void remap(ArrayRef<BasicBlock*> blocks, ValueToValueMapTy& copy) {
  for (BasicBlock* block : blocks) {
    for (Instruction& instruction : *cast<BasicBlock>(copy[block])) {
      RemapInstruction(&instruction, copy, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }
  }
}

// Everything, with variables that are both halves' own.
void copy_all(Function& function, Halves& halves, ValueToValueMapTy& copy) {
  clone_blocks(function, halves.traced, copy);
  std::vector<Instruction*> variables;
  for (Instruction& instruction : function.getEntryBlock()) {
    if (!isa<AllocaInst>(instruction)) continue;
    variables.push_back(cast<Instruction>(copy[&instruction]));
    copy[&instruction] = &instruction;
  }
  for (Instruction* variable : variables) variable->eraseFromParent();
  remap(halves.traced, copy);
  note_copies(copy, halves.traced, halves);
}

// The ways out lead where those of the loop itself do.
void add_ways_out(ArrayRef<BasicBlock*> blocks, ValueToValueMapTy& copy) {
  for (BasicBlock* block : blocks) {
    SmallSetVector<BasicBlock*, 4> outside;
    for (BasicBlock* next : successors(block)) {
      if (copy.find(next) == copy.end()) outside.insert(next);
    }
    for (BasicBlock* next : outside) {
      for (PHINode& phi : next->phis()) {
        SmallVector<Value*, 4> brought;
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
          if (phi.getIncomingBlock(i) == block) brought.push_back(phi.getIncomingValue(i));
        }
        for (Value* value : brought) {
          const auto known = copy.find(value);
          phi.addIncoming(known == copy.end() ? value : static_cast<Value*>(known->second),
                          cast<BasicBlock>(copy[block]));
        }
      }
    }
  }
}

// From outside of the loop, or from a plain copy of a loop that is in it.
void drop_absent_ways(BasicBlock& block) {
  const SmallPtrSet<BasicBlock*, 8> from(pred_begin(&block), pred_end(&block));
  for (PHINode& phi : block.phis()) {
    for (unsigned i = phi.getNumIncomingValues(); i-- > 0;) {
      if (!from.contains(phi.getIncomingBlock(i))) phi.removeIncomingValue(i, false);
    }
  }
}

// A loop whose head has been split: the crossing leads to what comes after its phis.
void copy_loop(Function& function, ArrayRef<BasicBlock*> blocks, BasicBlock* body, bool is_short,
               Halves& halves) {
  ValueToValueMapTy copy;
  clone_blocks(function, blocks, copy);
  remap(blocks, copy);
  for (BasicBlock* block : blocks) drop_absent_ways(*cast<BasicBlock>(copy[block]));
  add_ways_out(blocks, copy);
  note_copies(copy, blocks, halves);
  halves.crossings.push_back({body, cast<BasicBlock>(copy[body]), is_short});
}

struct SplitHead {
  BasicBlock* head;
  BasicBlock* body;
};

std::vector<SplitHead> split_heads(ArrayRef<BasicBlock*> heads) {
  std::vector<SplitHead> split;
  for (BasicBlock* head : heads) {
    split.push_back({head, SplitBlock(head, head->getFirstNonPHIIt())});
  }
  return split;
}

bool are_all_loops(ArrayRef<BasicBlock*> heads, const LoopInfo& loops) {
  return all_of(heads, [&](BasicBlock* head) {
    const Loop* loop = loops.getLoopFor(head);
    return loop && loop->getHeader() == head;
  });
}

void copy_loops(Function& function, ArrayRef<BasicBlock*> heads, Halves& halves) {
  const std::vector<SplitHead> split = split_heads(heads);
  for (BasicBlock& block : function) halves.traced.push_back(&block);
  struct Copied {
    BasicBlock* body;
    std::vector<BasicBlock*> blocks;
    bool is_short;
  };
  std::vector<Copied> all;
  {
    DominatorTree dominators(function);
    const LoopInfo loops(dominators);
    for (const SplitHead& at : split) {
      const Loop* loop = loops.getLoopFor(at.head);
      all.push_back({at.body, {loop->block_begin(), loop->block_end()}, !is_long(*loop)});
    }
  }
  for (const Copied& loop : all) {
    copy_loop(function, loop.blocks, loop.body, loop.is_short, halves);
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

void copy_function(Function& function, ArrayRef<BasicBlock*> heads, const LabelTables& tables,
                   Halves& halves) {
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
  const std::vector<SplitHead> split = split_heads(heads);
  for (BasicBlock& block : function) halves.traced.push_back(&block);
  ValueToValueMapTy copies;
  copy_all(function, halves, copies);
  const auto copy = [&](BasicBlock* block) { return cast<BasicBlock>(copies[block]); };
  for (const auto& [head, body] : split) {
    halves.crossings.push_back({body, copy(body), short_ones.contains(head)});
  }
  for (BasicBlock* way : ways_out) halves.returns.push_back({way, copy(way), true});
  if (!tables.all.empty()) {
    Blocks plain;
    for (BasicBlock* block : halves.traced) plain.insert(copy(block));
    copy_label_tables(tables, function, function, plain, copies);
  }
}

}  // namespace

void make_halves(Function& function, const LabelTables& tables, Halves& halves) {
  const SmallVector<BasicBlock*, 16> heads = crossing_heads(function, tables).takeVector();
  if (heads.empty() || !all_can_be_kept(function)) {
    for (BasicBlock& block : function) halves.traced.push_back(&block);
    return;
  }
  drop_lifetimes(function);
  bool only_loops = tables.jumps.empty();
  if (only_loops) {
    DominatorTree dominators(function);
    only_loops = are_all_loops(heads, LoopInfo(dominators));
  }
  if (only_loops)
    copy_loops(function, heads, halves);
  else
    copy_function(function, heads, tables, halves);
}

}  // namespace plumb::pass
