#include "cover.h"

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Operator.h"
#include "mark.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr unsigned kMostSteps = 60000;  // instructions looked at for one mark
constexpr unsigned kMostValues = 6;

// What a pointer was computed from, within the same block.
const Value* root_of(const Value* value) {
  for (unsigned depth = 0; depth < 16; ++depth) {
    if (auto* gep = dyn_cast<GEPOperator>(value)) {
      value = gep->getPointerOperand();
    } else {
      break;
    }
  }
  return value;
}

using Values = SmallPtrSet<const Value*, 8>;

struct Walk {
  const BasicBlock* block;
  BasicBlock::const_iterator from;
  Values values;
};

enum class Found { covered, lost, onward };

Found look(const Instruction& instruction, const Values& values) {
  const auto same = [&values](const Value* value) { return values.contains(root_of(value)); };
  if (auto* mark = as_mark(const_cast<Instruction&>(instruction))) {
    return same(mark->getArgOperand(0)) ? Found::covered : Found::onward;
  }
  if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    const bool elsewhere = !isa<AllocaInst>(root_of(store->getPointerOperand()));
    return elsewhere && same(store->getValueOperand()) ? Found::covered : Found::onward;
  }
  if (auto* result = dyn_cast<ReturnInst>(&instruction)) {
    const Value* value = result->getReturnValue();
    return value && same(value) ? Found::covered : Found::lost;
  }
  if (isa<ResumeInst>(instruction) || isa<UnreachableInst>(instruction)) return Found::lost;
  return Found::onward;
}

}  // namespace

bool is_covered(CallInst& mark) {
  std::vector<Walk> pending;
  DenseMap<const BasicBlock*, Values> seen;
  pending.push_back({mark.getParent(), std::next(mark.getIterator()), {}});
  pending.back().values.insert(root_of(mark.getArgOperand(0)));
  unsigned steps = 0;
  while (!pending.empty()) {
    Walk walk = std::move(pending.back());
    pending.pop_back();
    Found found = Found::onward;
    for (auto at = walk.from; at != walk.block->end() && found == Found::onward; ++at) {
      if (++steps > kMostSteps) return false;
      found = look(*at, walk.values);
    }
    if (found == Found::lost) return false;
    if (found == Found::covered) continue;
    for (const BasicBlock* next : successors(walk.block)) {
      Values values = walk.values;
      for (const PHINode& phi : next->phis()) {
        // A value that is made anew there is another one from then on.
        values.erase(&phi);
        if (values.size() < kMostValues &&
            walk.values.contains(root_of(phi.getIncomingValueForBlock(walk.block)))) {
          values.insert(&phi);
        }
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
      pending.push_back({next, next->begin(), std::move(values)});
    }
  }
  return true;
}

}  // namespace plumb::pass
