#include "ways_out.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr std::size_t kMaxWays = 24;

bool ends_scope(const Instruction& instruction) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->getIntrinsicID() == Intrinsic::lifetime_end;
}

const DILocation* place_of(const Instruction& instruction) {
  const DILocation* location = instruction.getDebugLoc().get();
  return location && location->getLine() != 0 ? location : nullptr;
}

// Where the scope's variables end in this block, by the front end.
const DILocation* scope_end(const BasicBlock& block) {
  for (const Instruction& instruction : block) {
    if (ends_scope(instruction)) return place_of(instruction);
  }
  return nullptr;
}

}  // namespace

WaysOut::WaysOut(Function& function) : function_(function) {
  find_unwinding();
  find_leaving_marks();
  set_ways();
}

namespace {

bool catches(const Instruction& instruction) {
  auto* call = dyn_cast<CallBase>(&instruction);
  return call && call->getCalledFunction() &&
         call->getCalledFunction()->getName() == "__cxa_begin_catch";
}

}  // namespace

bool WaysOut::is_unwinding(const Instruction& at) const {
  const BasicBlock& block = *at.getParent();
  return is_unwinding(block) && !std::any_of(block.begin(), at.getIterator(), catches);
}

void WaysOut::find_unwinding() {
  for (const BasicBlock& block : function_) {
    if (block.isLandingPad()) unwinding_.insert(&block);
  }
  if (unwinding_.empty()) return;
  for (bool grown = true; grown;) {
    grown = false;
    for (const BasicBlock& block : function_) {
      if (unwinding_.contains(&block) || pred_empty(&block)) continue;
      // Where an exception is caught, the ordinary begins again.
      const bool only = all_of(predecessors(&block), [this](const BasicBlock* from) {
        return unwinding_.contains(from) && !any_of(*from, catches);
      });
      if (only) grown |= unwinding_.insert(&block).second;
    }
  }
}

// A slot without a name that only ever gets constants and decides a switch, or
// the function's result.
void WaysOut::find_leaving_marks() {
  for (const Instruction& instruction : instructions(function_)) {
    auto* slot = dyn_cast<AllocaInst>(&instruction);
    if (!slot || slot->getAllocatedType()->isAggregateType()) continue;
    if (!findDVRDeclares(const_cast<AllocaInst*>(slot)).empty() ||
        !at::getDVRAssignmentMarkers(slot).empty()) {
      continue;
    }
    const bool plain = all_of(slot->users(), [slot](const User* user) {
      auto* store = dyn_cast<StoreInst>(user);
      return isa<LoadInst>(user) || (store && store->getPointerOperand() == slot);
    });
    if (plain) destinations_.insert(slot);
  }
}

bool WaysOut::is_meeting(const BasicBlock& block) const {
  return block.hasNPredecessorsOrMore(2) && any_of(block, ends_scope) && !is_unwinding(block);
}

// The statement by which the source leaves from this block; null when control
// just arrives at the end.
const DILocation* WaysOut::leaving(const BasicBlock& block) const {
  auto* branch = dyn_cast<BranchInst>(block.getTerminator());
  if (!branch || branch->isConditional()) return nullptr;
  const DILocation* result = nullptr;
  bool leaves = false;
  for (const Instruction& instruction : block) {
    auto* store = dyn_cast<StoreInst>(&instruction);
    auto* slot = store ? dyn_cast<AllocaInst>(store->getPointerOperand()) : nullptr;
    if (!slot || !destinations_.contains(slot)) continue;
    leaves = true;
    if (const DILocation* place = place_of(*store)) result = place;
  }
  if (!leaves) return nullptr;
  return result ? result : place_of(*branch);
}

bool WaysOut::Arriving::add(const Arriving& other) {
  if (!other.any() || (other.least >= least && other.most <= most && any())) return false;
  least = std::min(least, other.least);
  most = any() ? std::max(most, other.most) : other.most;
  return true;
}

void WaysOut::set(Instruction* before, const DILocation* place, const BasicBlock& block,
                  unsigned first) {
  if (!place) return;
  const auto known = std::find(places_.begin() + first, places_.end(), place);
  const unsigned index = static_cast<unsigned>(known - places_.begin());
  if (known == places_.end()) places_.push_back(place);
  settings_.emplace_back(before, index);
  arriving_[&block].add({index, index});
}

void WaysOut::set_ways() {
  for (BasicBlock& block : function_) {
    const unsigned first = static_cast<unsigned>(places_.size());
    if (block.isLandingPad()) {
      for (BasicBlock* from : predecessors(&block)) {
        // What cleans up on the way out is not what threw.
        if (!is_unwinding(*from)) {
          set(from->getTerminator(), place_of(*from->getTerminator()), block, first);
        }
      }
    }
    if (!is_meeting(block)) continue;
    for (BasicBlock* from : predecessors(&block)) {
      if (const DILocation* place = leaving(*from)) {
        set(from->getTerminator(), place, block, first);
      } else if (!is_meeting(*from) && !isa<InvokeInst>(from->getTerminator())) {
        set(from->getTerminator(), scope_end(block), block, first);
      }
    }
  }
  spread();
  if (places_.size() < 2) return;
  IRBuilder<> head(&*function_.getEntryBlock().getFirstInsertionPt());
  taken_ = head.CreateAlloca(head.getInt64Ty());
  head.SetInsertPoint(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  head.CreateStore(head.getInt64(0), taken_);
  for (const auto& [before, index] : settings_) {
    IRBuilder<> builder(before);
    builder.CreateStore(builder.getInt64(index), taken_);
  }
}

// From meeting to meeting, and along the way of exceptions.
void WaysOut::spread() {
  for (bool grown = true; grown;) {
    grown = false;
    for (const BasicBlock& block : function_) {
      if (!is_meeting(block) && !is_unwinding(block)) continue;
      for (const BasicBlock* from : predecessors(&block)) {
        const auto known = arriving_.find(from);
        if (known == arriving_.end() || (is_meeting(block) && leaving(*from))) continue;
        const Arriving numbers = known->second;
        grown |= arriving_[&block].add(numbers);
      }
    }
  }
}

const WaysOut::Arriving* WaysOut::arriving_at(const Instruction& end) const {
  const BasicBlock& block = *end.getParent();
  if (!is_unwinding(end) && !(is_meeting(block) && ends_scope(end))) return nullptr;
  const auto known = arriving_.find(&block);
  if (known == arriving_.end() || !known->second.any()) return nullptr;
  return known->second.most - known->second.least < kMaxWays ? &known->second : nullptr;
}

std::vector<const DILocation*> WaysOut::places_at(const Instruction& end) const {
  const Arriving* numbers = arriving_at(end);
  if (!numbers) return {};
  return {places_.begin() + numbers->least, places_.begin() + numbers->most + 1};
}

std::vector<SmallVector<const Instruction*, 2>> WaysOut::origins_at(const Instruction& end) const {
  const Arriving* numbers = arriving_at(end);
  if (!numbers) return {};
  std::vector<SmallVector<const Instruction*, 2>> origins(numbers->most - numbers->least + 1);
  for (const auto& [before, index] : settings_) {
    if (index >= numbers->least && index <= numbers->most) {
      origins[index - numbers->least].push_back(before);
    }
  }
  return origins;
}

Value* WaysOut::way(IRBuilder<>& builder, const Instruction& end) const {
  const Arriving* numbers = arriving_at(end);
  if (!taken_ || !numbers || numbers->least == numbers->most) return builder.getInt64(0);
  return builder.CreateSub(builder.CreateLoad(builder.getInt64Ty(), taken_),
                           builder.getInt64(numbers->least));
}

}  // namespace plumb::pass
