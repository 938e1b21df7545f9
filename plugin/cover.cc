#include "cover.h"

#include <algorithm>
#include <map>
#include <vector>

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "mark.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr unsigned kMostSteps = 20000;
constexpr unsigned kMostValues = 8;
constexpr unsigned kMostRounds = 24;
constexpr unsigned kMostWays = 8;

// What a pointer was computed from, within the same block.
const Value* stripped(const Value* value) {
  for (unsigned depth = 0; depth < 16; ++depth) {
    auto* gep = dyn_cast<GEPOperator>(value);
    if (!gep) break;
    value = gep->getPointerOperand();
  }
  return value;
}

bool follows_throw(const Instruction& end) {
  for (const Instruction* at = &end; at; at = at->getPrevNode()) {
    auto* call = dyn_cast<CallBase>(at);
    if (!call || isa<IntrinsicInst>(call)) continue;
    return !call->doesNotThrow();
  }
  return false;
}

bool decides(Instruction& instruction) {
  if (as_mark(instruction)) return true;
  if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    return store->getValueOperand()->getType()->isPointerTy() &&
           !isa<AllocaInst>(stripped(store->getPointerOperand()));
  }
  return isa<ReturnInst>(instruction) || isa<ResumeInst>(instruction) ||
         isa<UnreachableInst>(instruction);
}

}  // namespace

Cover::Cover(Function& function) {
  for (BasicBlock& block : function) {
    std::vector<Instruction*>& list = deciding_[&block];
    for (Instruction& instruction : block) {
      if (decides(instruction)) list.push_back(&instruction);
    }
  }
  join_phis(function);
}

// Phis of a block are one until something tells them apart: a way on which they
// choose pointers into different blocks.
void Cover::join_phis(Function& function) {
  std::vector<const PHINode*> phis;
  for (const BasicBlock& block : function) {
    const PHINode* first = nullptr;
    for (const PHINode& phi : block.phis()) {
      if (!phi.getType()->isPointerTy()) continue;
      if (!first) first = &phi;
      phis.push_back(&phi);
      phi_roots_[&phi] = first;
    }
  }
  std::size_t count = 0;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    using Choice = std::vector<const Value*>;
    std::map<Choice, const PHINode*> classes;
    DenseMap<const PHINode*, const Value*> roots;
    for (const PHINode* phi : phis) {
      Choice choice = {phi->getParent(), phi_roots_[phi]};
      for (const BasicBlock* from : predecessors(phi->getParent())) {
        choice.push_back(root_of(phi->getIncomingValueForBlock(from)));
      }
      roots[phi] = classes.try_emplace(std::move(choice), phi).first->second;
    }
    phi_roots_ = std::move(roots);
    if (classes.size() == count) return;
    count = classes.size();
  }
  // Not settled: each stands for itself.
  for (const PHINode* phi : phis) phi_roots_[phi] = phi;
}

const Value* Cover::root_of(const Value* value) const {
  value = stripped(value);
  auto* phi = dyn_cast<PHINode>(value);
  if (!phi) return value;
  const auto known = phi_roots_.find(phi);
  return known == phi_roots_.end() ? value : known->second;
}

Cover::Found Cover::look(Instruction& instruction, const Values& values) {
  const auto same = [&](const Value* value) { return values.contains(root_of(value)); };
  if (CallInst* mark = as_mark(instruction)) {
    return same(mark->getArgOperand(0)) ? Found::covered : Found::onward;
  }
  if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    return same(store->getValueOperand()) ? Found::covered : Found::onward;
  }
  if (auto* result = dyn_cast<ReturnInst>(&instruction)) {
    const Value* value = result->getReturnValue();
    return value && same(value) ? Found::covered : Found::lost;
  }
  return isa<UnreachableInst>(instruction) && !follows_throw(instruction) ? Found::ended
                                                                          : Found::lost;
}

// What the values are called behind the edge.
void Cover::enter(const BasicBlock& from, const BasicBlock& to, const Values& known,
                  Values& values) const {
  for (const PHINode& phi : to.phis()) {
    if (!phi.getType()->isPointerTy()) continue;
    // A value that is made anew there is another one from then on.
    values.erase(&phi);
    if (root_of(&phi) == &phi && values.size() < kMostValues &&
        known.contains(root_of(phi.getIncomingValueForBlock(&from)))) {
      values.insert(&phi);
    }
  }
}

bool Cover::walk_from(const BasicBlock& block, std::size_t from, Values first,
                      const CallInst& mark) {
  struct Walk {
    const BasicBlock* block;
    std::size_t from;  // in its list
    Values values;
  };
  std::vector<Walk> pending;
  DenseMap<const BasicBlock*, Values> seen;
  pending.push_back({&block, from, std::move(first)});
  unsigned steps = 0;
  bool begun = false;
  bool repeated = false;
  while (!pending.empty()) {
    Walk walk = std::move(pending.back());
    pending.pop_back();
    const std::vector<Instruction*>& list = deciding_[walk.block];
    Found found = Found::onward;
    for (std::size_t i = walk.from; i < list.size() && found == Found::onward; ++i) {
      if (++steps > kMostSteps) return false;
      // It does not cover itself where it is; the next time around it does.
      if (list[i] == &mark && !begun) continue;
      found = look(*list[i], walk.values);
    }
    begun = true;
    if (found == Found::lost) return false;
    repeated |= found == Found::covered;
    if (found == Found::covered || found == Found::ended) continue;
    for (const BasicBlock* next : successors(walk.block)) {
      if (++steps > kMostSteps) return false;
      Values values = walk.values;
      enter(*walk.block, *next, walk.values, values);
      // Fewer values find less: a block is done again only for what it lacks.
      const auto known = seen.find(next);
      if (known != seen.end()) {
        Values both;
        for (const Value* value : known->second) {
          if (values.contains(value)) both.insert(value);
        }
        if (both.size() == known->second.size()) continue;
        values = both;
      }
      if (values.empty()) return false;
      seen[next] = values;
      pending.push_back({next, 0, std::move(values)});
    }
  }
  return repeated;
}

bool Cover::covers(CallInst& mark) {
  const std::vector<Instruction*>& own = deciding_[mark.getParent()];
  const auto here = std::find(own.begin(), own.end(), &mark);
  Values values;
  values.insert(root_of(mark.getArgOperand(0)));
  return walk_from(*mark.getParent(), static_cast<std::size_t>(here - own.begin()) + 1,
                   std::move(values), mark);
}

bool Cover::covers_on_some_way(CallInst& mark, std::vector<BasicBlock*>& others) {
  BasicBlock* meeting = mark.getParent();
  auto* made = dyn_cast<Instruction>(mark.getArgOperand(0));
  if (!made || (made->getParent() == meeting && !isa<PHINode>(made))) return false;
  if (!isa<Constant>(mark.getArgOperand(1))) return false;  // its place is chosen here
  for (const Instruction& before : *meeting) {
    if (&before == &mark) break;
    if (isa<CallBase>(before) && !isa<IntrinsicInst>(before)) return false;
  }
  SmallPtrSet<BasicBlock*, 8> ways(pred_begin(meeting), pred_end(meeting));
  if (ways.size() < 2 || ways.size() > kMostWays || ways.contains(meeting)) return false;
  bool some = false;
  for (BasicBlock* way : ways) {
    Values values;
    values.insert(root_of(made->DoPHITranslation(meeting, way)));
    const Values known = values;
    enter(*way, *meeting, known, values);
    if (walk_from(*meeting, 0, std::move(values), mark)) {
      some = true;
    } else if (way->getTerminator()->getNumSuccessors() == 1 &&
               isa<BranchInst>(way->getTerminator())) {
      others.push_back(way);
    } else {
      return false;
    }
  }
  return some;
}

}  // namespace plumb::pass
