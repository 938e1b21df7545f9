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

constexpr unsigned kMostSteps = 100000;
constexpr std::size_t kMostKnown = 16;  // sets of values per block
constexpr unsigned kMostValues = 8;
constexpr unsigned kMostRounds = 24;

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
  name_phis(function);
  find_returning(function);
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

// A phi that chooses between one value and nothing is that value.
void Cover::name_phis(Function& function) {
  for (unsigned round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (const BasicBlock& block : function) {
      for (const PHINode& phi : block.phis()) {
        if (!phi.getType()->isPointerTy() || root_of(&phi) != &phi) continue;
        const Value* only = nullptr;
        bool several = false;
        for (const Value* incoming : phi.incoming_values()) {
          const Value* root = root_of(incoming);
          if (isa<Constant>(root) || root == &phi) continue;
          several |= only && only != root;
          only = root;
        }
        if (!only || several) continue;
        names_[&phi] = only;
        changed = true;
      }
    }
    if (!changed) return;
  }
}

const Value* Cover::root_of(const Value* value) const {
  while (true) {
    value = stripped(value);
    auto* phi = dyn_cast<PHINode>(value);
    if (!phi) return value;
    const auto known = phi_roots_.find(phi);
    if (known != phi_roots_.end()) value = known->second;
    const auto name = names_.find(cast<PHINode>(value));
    if (name == names_.end()) return value;
    value = name->second;
  }
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

// The next time around a value has the name that another one had.
void Cover::forget_made_in(const BasicBlock& block, Values& values) {
  SmallVector<const Value*, 4> made;
  for (const Value* value : values) {
    auto* instruction = dyn_cast<Instruction>(value);
    if (instruction && !isa<PHINode>(instruction) && instruction->getParent() == &block) {
      made.push_back(value);
    }
  }
  for (const Value* value : made) values.erase(value);
}

// Blocks from which the function's end can be reached.
void Cover::find_returning(Function& function) {
  SmallVector<const BasicBlock*, 16> pending;
  for (const BasicBlock& block : function) {
    if (succ_empty(&block) && !isa<UnreachableInst>(block.getTerminator())) {
      pending.push_back(&block);
    }
  }
  while (!pending.empty()) {
    const BasicBlock* block = pending.pop_back_val();
    if (!returning_.insert(block).second) continue;
    pending.append(pred_begin(block), pred_end(block));
  }
}

bool Cover::is_known(const Known& known, const BasicBlock& block, const Values& values,
                     bool as_subset) {
  const auto sets = known.find(&block);
  if (sets == known.end()) return false;
  return any_of(sets->second, [&](const Values& set) {
    const Values& small = as_subset ? values : set;
    const Values& large = as_subset ? set : values;
    return all_of(small, [&](const Value* value) { return large.contains(value); });
  });
}

bool Cover::walk_from(const BasicBlock& block, std::size_t from, Values first,
                      const CallInst& mark) {
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
    if (begun) forget_made_in(*walk.block, walk.values);
    if (walk.values.empty()) return false;
    Found found = Found::onward;
    for (std::size_t i = walk.from; i < list.size() && found == Found::onward; ++i) {
      if (++steps > kMostSteps) return false;
      // It does not cover itself where it is; the next time around it does.
      if (list[i] == &mark && !begun) continue;
      found = look(*list[i], walk.values);
    }
    const bool whole = begun;
    begun = true;
    if (found == Found::lost) {
      // Whoever comes here with no more than this is lost, too.
      if (whole && lost_[walk.block].size() < kMostKnown) {
        lost_[walk.block].push_back(walk.values);
      }
      return false;
    }
    repeated |= found == Found::covered;
    if (found == Found::covered || found == Found::ended) continue;
    for (const BasicBlock* next : successors(walk.block)) {
      if (++steps > kMostSteps) return false;
      Values values = walk.values;
      enter(*walk.block, *next, walk.values, values);
      if (is_known(lost_, *next, values, true)) return false;
      if (is_known(covered_, *next, values, false)) {
        repeated |= returning_.contains(next);
        continue;
      }
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
  // All of it rests on nothing that could still fail: it holds for others as well.
  for (auto& [reached, values] : seen) {
    std::vector<Values>& sets = covered_[reached];
    if (sets.size() < kMostKnown) sets.push_back(std::move(values));
  }
  return repeated;
}

std::size_t Cover::behind(CallInst& mark) {
  const std::vector<Instruction*>& own = deciding_[mark.getParent()];
  const auto here = std::find(own.begin(), own.end(), &mark);
  return static_cast<std::size_t>(here - own.begin()) + 1;
}

bool Cover::covers(CallInst& mark) {
  Values values;
  values.insert(root_of(mark.getArgOperand(0)));
  return walk_from(*mark.getParent(), behind(mark), std::move(values), mark);
}

bool Cover::covers_from(CallInst& mark, Value* value, BasicBlock* way) {
  Values known;
  known.insert(root_of(value));
  Values values = known;
  enter(*way, *mark.getParent(), known, values);
  // Around a loop: what the block itself makes has the name of another value then.
  forget_made_in(*mark.getParent(), values);
  return walk_from(*mark.getParent(), behind(mark), std::move(values), mark);
}

}  // namespace plumb::pass
