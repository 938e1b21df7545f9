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
        return unwinding_.contains(from) && !any_of(*from, [](const Instruction& instruction) {
                 auto* call = dyn_cast<CallBase>(&instruction);
                 return call && call->getCalledFunction() &&
                        call->getCalledFunction()->getName() == "__cxa_begin_catch";
               });
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

unsigned WaysOut::number(const DILocation* place) {
  const auto known = find(places_, place);
  const unsigned index = static_cast<unsigned>(known - places_.begin());
  if (known == places_.end()) places_.push_back(place);
  return index;
}

void WaysOut::set(Instruction* before, const DILocation* place) {
  if (place) settings_.emplace_back(before, number(place));
}

void WaysOut::set_ways() {
  for (BasicBlock& block : function_) {
    auto* invoke = dyn_cast<InvokeInst>(block.getTerminator());
    // What cleans up on the way out is not what threw.
    if (invoke && !is_unwinding(block)) set(invoke, place_of(*invoke));
    if (!is_meeting(block)) continue;
    for (BasicBlock* from : predecessors(&block)) {
      if (const DILocation* place = leaving(*from)) {
        set(from->getTerminator(), place);
      } else if (!is_meeting(*from) && !isa<InvokeInst>(from->getTerminator())) {
        set(from->getTerminator(), scope_end(block));
      }
    }
  }
  if (places_.size() < 2 || places_.size() > kMaxWays) {
    // One way, or too many: nothing to choose from.
    if (places_.size() > kMaxWays) places_.clear();
    return;
  }
  IRBuilder<> head(&*function_.getEntryBlock().getFirstInsertionPt());
  taken_ = head.CreateAlloca(head.getInt64Ty());
  head.SetInsertPoint(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  head.CreateStore(head.getInt64(0), taken_);
  for (const auto& [before, index] : settings_) {
    IRBuilder<> builder(before);
    builder.CreateStore(builder.getInt64(index), taken_);
  }
}

const std::vector<const DILocation*>& WaysOut::places_at(const Instruction& end) const {
  const BasicBlock& block = *end.getParent();
  if (!is_unwinding(block) && !(is_meeting(block) && ends_scope(end))) return none_;
  return places_;
}

Value* WaysOut::way(IRBuilder<>& builder) const {
  return taken_ ? builder.CreateLoad(builder.getInt64Ty(), taken_)
                : static_cast<Value*>(builder.getInt64(0));
}

}  // namespace plumb::pass
