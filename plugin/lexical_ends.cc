#include "lexical_ends.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace plumb::pass {

namespace {

using Blocks = DenseSet<const BasicBlock*>;

bool is_plain(const AllocaInst& place) {
  return all_of(place.users(), [&place](const User* user) {
    if (isa<LoadInst>(user)) return true;
    auto* store = dyn_cast<StoreInst>(user);
    return store && store->getValueOperand() != &place;
  });
}

// Blocks at whose start the slot may still be read before it is written.
Blocks live_at_start(const AllocaInst& place) {
  Blocks reading;
  Blocks writing;
  std::vector<const BasicBlock*> pending;
  DenseMap<const BasicBlock*, const Instruction*> first;
  for (const User* user : place.users()) {
    auto* instruction = cast<Instruction>(user);
    const Instruction*& known = first[instruction->getParent()];
    if (!known || instruction->comesBefore(known)) known = instruction;
  }
  for (const auto& [block, instruction] : first) {
    if (isa<LoadInst>(instruction)) {
      reading.insert(block);
      pending.push_back(block);
    } else {
      writing.insert(block);
    }
  }
  while (!pending.empty()) {
    const BasicBlock* block = pending.back();
    pending.pop_back();
    for (const BasicBlock* before : predecessors(block)) {
      if (writing.contains(before) || !reading.insert(before).second) continue;
      pending.push_back(before);
    }
  }
  return reading;
}

const DILocation* last_location(const BasicBlock& block) {
  for (const Instruction& instruction : reverse(block)) {
    if (const DILocation* location = instruction.getDebugLoc().get()) return location;
  }
  return nullptr;
}

bool lies_in(const DILocation* location, const DILocalScope* scope) {
  if (!location || location->getInlinedAt()) return false;
  for (const DIScope* at = location->getScope(); at; at = at->getScope()) {
    auto* local = dyn_cast<DILocalScope>(at);
    if (!local) return false;
    if (local->getNonLexicalBlockFileScope() == scope) return true;
  }
  return false;
}

// The first instruction behind the last one of the scope in this block; null when
// there is none of it, or when the block ends in it.
Instruction* first_behind(BasicBlock& block, const DILocalScope* scope) {
  Instruction* behind = nullptr;
  for (Instruction& instruction : reverse(block)) {
    if (lies_in(instruction.getDebugLoc().get(), scope)) break;
    behind = isa<PHINode>(instruction) ? behind : &instruction;
    if (&instruction == &block.front()) return nullptr;
  }
  return behind;
}

// Not read behind this point before it is written.
bool is_dead_from(const AllocaInst& place, const Instruction* at, const Blocks& live) {
  for (; at; at = at->getNextNode()) {
    if (auto* load = dyn_cast<LoadInst>(at); load && load->getPointerOperand() == &place) {
      return false;
    }
    if (auto* store = dyn_cast<StoreInst>(at); store && store->getPointerOperand() == &place) {
      return true;
    }
    if (at->isTerminator()) {
      return none_of(successors(at->getParent()),
                     [&live](const BasicBlock* next) { return live.contains(next); });
    }
  }
  return false;
}

bool can_split(const Instruction& terminator) {
  return isa<BranchInst>(terminator) || isa<SwitchInst>(terminator);
}

}  // namespace

void find_lexical_ends(Function& function, DenseMap<const AllocaInst*, Slot>& slots) {
  // Where each block stands, before any is added.
  std::vector<BasicBlock*> blocks;
  DenseMap<const BasicBlock*, const DILocation*> place_of;
  for (auto& [place, slot] : slots) {
    const bool unmarked = slot.variable && !slot.parameter && slot.starts.empty() &&
                          slot.ends.empty() && is_plain(*place);
    if (!unmarked) continue;
    const DILocalScope* scope = slot.variable->getScope()->getNonLexicalBlockFileScope();
    if (!isa<DILexicalBlock>(scope)) continue;
    if (blocks.empty()) {
      for (BasicBlock& block : function) {
        blocks.push_back(&block);
        place_of[&block] = last_location(block);
      }
    }
    const Blocks live = live_at_start(*place);
    for (BasicBlock* block : blocks) {
      if (!lies_in(place_of[block], scope)) {
        Instruction* behind = first_behind(*block, scope);
        if (behind && is_dead_from(*place, behind, live)) {
          slot.exits.push_back({behind, behind->getPrevNode()->getDebugLoc()});
        }
        continue;
      }
      Instruction* terminator = block->getTerminator();
      std::vector<BasicBlock*> outside;
      for (BasicBlock* next : successors(block)) {
        // What another slot's edge was split for lies between; it leads outside.
        const auto known = place_of.find(next);
        const bool leaves = known == place_of.end() || !lies_in(known->second, scope);
        if (leaves && !live.contains(next) && !is_contained(outside, next)) outside.push_back(next);
      }
      if (outside.empty()) continue;
      if (outside.size() == terminator->getNumSuccessors()) {
        slot.exits.push_back({terminator, DebugLoc(place_of[block])});
        continue;
      }
      if (!can_split(*terminator)) continue;
      for (BasicBlock* next : outside) {
        BasicBlock* between = SplitEdge(block, next);
        if (!between) continue;
        slot.exits.push_back({between->getTerminator(), DebugLoc(place_of[block])});
      }
    }
  }
}

}  // namespace plumb::pass
