#include "borrow.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "mark.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr unsigned kMostAccesses = 200;
constexpr unsigned kMostSources = 32;
constexpr unsigned kMostWays = 8;

// What a value may have come from, and the phis on the way.
struct Sources {
  SmallVector<Value*, 8> values;
  SmallVector<const PHINode*, 8> phis;
  bool computed = false;  // with arithmetic
};

bool find_sources(Value* value, Sources& sources) {
  SmallPtrSet<Value*, 16> seen;
  SmallVector<Value*, 8> pending = {value};
  while (!pending.empty()) {
    Value* next = pending.pop_back_val();
    if (!seen.insert(next).second) continue;
    if (seen.size() > kMostSources) return false;
    if (auto* gep = dyn_cast<GEPOperator>(next)) {
      sources.computed = true;
      pending.push_back(gep->getPointerOperand());
    } else if (auto* phi = dyn_cast<PHINode>(next)) {
      sources.phis.push_back(phi);
      for (Value* incoming : phi->incoming_values()) pending.push_back(incoming);
    } else if (auto* select = dyn_cast<SelectInst>(next)) {
      pending.push_back(select->getTrueValue());
      pending.push_back(select->getFalseValue());
    } else {
      sources.values.push_back(next);
    }
  }
  return true;
}

// Accesses of the type that may be anything: characters, unions, plain copies.
bool has_type(const Instruction& access) {
  const MDNode* tag = access.getMetadata(LLVMContext::MD_tbaa);
  if (!tag || tag->getNumOperands() < 2) return false;
  auto* type = dyn_cast_or_null<MDNode>(tag->getOperand(1));
  auto* name = type && type->getNumOperands() ? dyn_cast<MDString>(type->getOperand(0)) : nullptr;
  return name && name->getString() != "omnipotent char";
}

bool is_same_place(const Value* one, const Value* other, const DataLayout& layout) {
  if (one == other) return true;
  APInt at(64, 0);
  APInt there(64, 0);
  const Value* base = one->stripAndAccumulateConstantOffsets(layout, at, true);
  return base == other->stripAndAccumulateConstantOffsets(layout, there, true) && at == there;
}

}  // namespace

Borrow::Borrow(Function& function, MemorySSA& memory, AAResults& aliases)
    : function_(function), memory_(memory), aliases_(aliases) {
  unsigned number = 0;
  for (auto part = scc_begin(&function); !part.isAtEnd(); ++part) {
    if (!part.hasCycle()) continue;
    ++number;
    for (const BasicBlock* block : *part) cycles_[block] = number;
  }
}

bool Borrow::in_cycle_with(const BasicBlock* one, const BasicBlock* other) const {
  const unsigned cycle = cycles_.lookup(one);
  return cycle != 0 && cycle == cycles_.lookup(other);
}

bool Borrow::may_overwrite(Instruction& writer, const LoadInst& load) {
  if (as_mark(writer)) return false;
  const MemoryLocation place = MemoryLocation::get(&load);
  if (auto* store = dyn_cast<StoreInst>(&writer)) {
    const TypeSize size =
        function_.getDataLayout().getTypeStoreSize(store->getValueOperand()->getType());
    if (!size.isScalable() && size < 8) return false;
    if (has_type(load) && !has_type(*store)) return false;
    return !aliases_.isNoAlias(MemoryLocation::get(store), place);
  }
  return isModSet(aliases_.getModRefInfo(&writer, place));
}

// From `before` backwards to the load nothing writes to where it read.
bool Borrow::is_unwritten(const LoadInst& load, MemoryAccess* before) {
  MemoryUseOrDef* there = memory_.getMemoryAccess(&load);
  if (!there) return false;
  SmallPtrSet<MemoryAccess*, 16> seen;
  SmallVector<MemoryAccess*, 8> pending = {before};
  while (!pending.empty()) {
    MemoryAccess* access = pending.pop_back_val();
    if (!seen.insert(access).second || memory_.dominates(access, there)) continue;
    if (seen.size() > kMostAccesses) return false;
    if (auto* phi = dyn_cast<MemoryPhi>(access)) {
      for (auto& incoming : phi->incoming_values()) {
        pending.push_back(cast<MemoryAccess>(incoming));
      }
      continue;
    }
    auto* written = cast<MemoryDef>(access);
    if (may_overwrite(*written->getMemoryInst(), load)) return false;
    pending.push_back(written->getDefiningAccess());
  }
  return true;
}

bool Borrow::is_borrowed_at(Value* value, MemoryAccess* before) {
  Sources sources;
  if (!find_sources(value, sources)) return false;
  bool any = false;
  for (Value* source : sources.values) {
    if (isa<Constant>(source) || isa<AllocaInst>(source)) continue;
    // A parameter is the caller's as long as all callers are known to keep it.
    if (isa<Argument>(source) && !function_.hasAddressTaken()) continue;
    auto* load = dyn_cast<LoadInst>(source);
    if (!load || !load->isSimple()) return false;
    // A local variable's memory goes without a mark of its own.
    if (isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand(), 0))) return false;
    for (const PHINode* phi : sources.phis) {
      if (in_cycle_with(phi->getParent(), load->getParent())) return false;
    }
    if (!is_unwritten(*load, before)) return false;
    any = true;
  }
  return any;
}

bool Borrow::is_borrowed(CallInst& mark) {
  MemoryUseOrDef* here = memory_.getMemoryAccess(&mark);
  return here && is_borrowed_at(mark.getArgOperand(0), here->getDefiningAccess());
}

// What memory is like at the end of a block.
MemoryAccess* Borrow::last_access(BasicBlock* block) {
  for (auto* node = memory_.getDomTree().getNode(block); node; node = node->getIDom()) {
    if (const MemorySSA::DefsList* defs = memory_.getBlockDefs(node->getBlock())) {
      return const_cast<MemoryAccess*>(&*defs->rbegin());
    }
  }
  return memory_.getLiveOnEntryDef();
}

bool Borrow::is_borrowed_on_some_way(CallInst& mark, std::vector<BasicBlock*>& others) {
  BasicBlock* meeting = mark.getParent();
  auto* made = dyn_cast<Instruction>(mark.getArgOperand(0));
  if (!made || (made->getParent() == meeting && !isa<PHINode>(made))) return false;
  if (!isa<Constant>(mark.getArgOperand(1))) return false;  // its place is chosen here
  // Nothing before it in its block but other marks.
  for (Instruction& before : *meeting) {
    if (&before == &mark) break;
    if (before.mayWriteToMemory() && !as_mark(before)) return false;
  }
  SmallPtrSet<BasicBlock*, 8> ways(pred_begin(meeting), pred_end(meeting));
  if (ways.size() < 2 || ways.size() > kMostWays || ways.contains(meeting)) return false;
  for (BasicBlock* way : ways) {
    // On the way back of a loop another value has the name.
    if (in_cycle_with(way, meeting)) return false;
    Value* value = made->DoPHITranslation(meeting, way);
    if (isa<Constant>(value) || is_borrowed_at(value, last_access(way))) continue;
    auto* jump = dyn_cast<BranchInst>(way->getTerminator());
    if (!jump || jump->isConditional()) return false;
    others.push_back(way);
  }
  return others.size() < ways.size();
}

bool Borrow::moves_within(CallInst& mark) {
  auto* old = dyn_cast<LoadInst>(mark.getArgOperand(0));
  if (!old || old->getParent() != mark.getParent()) return false;
  const DataLayout& layout = mark.getDataLayout();
  StoreInst* store = nullptr;
  for (Instruction* at = old->getNextNode(); at && at != &mark; at = at->getNextNode()) {
    auto* candidate = dyn_cast<StoreInst>(at);
    if (candidate &&
        is_same_place(candidate->getPointerOperand(), old->getPointerOperand(), layout)) {
      store = candidate;
    }
  }
  if (!store || !store->getValueOperand()->getType()->isPointerTy()) return false;
  Sources sources;
  if (!find_sources(store->getValueOperand(), sources) || !sources.computed) return false;
  for (Value* source : sources.values) {
    auto* load = dyn_cast<LoadInst>(source);
    if (!load || !is_same_place(load->getPointerOperand(), store->getPointerOperand(), layout)) {
      return false;
    }
  }
  return !sources.values.empty();
}

}  // namespace plumb::pass
