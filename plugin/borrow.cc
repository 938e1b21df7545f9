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
constexpr unsigned kMostUsers = 64;
constexpr unsigned kMostHolders = 64;
constexpr unsigned kMostWriters = 32;  // from where ways meet to a mark
constexpr unsigned kMostRenewals = 2;  // of a place, one by the other

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

bool is_in_vtables_alone(const Constant& constant) {
  if (auto* global = dyn_cast<GlobalVariable>(&constant)) {
    return global->getName().starts_with("_ZTV") || global->getName().starts_with("_ZTC");
  }
  return (isa<ConstantAggregate>(constant) || isa<ConstantExpr>(constant)) &&
         all_of(constant.users(), [](const User* user) {
           auto* outer = dyn_cast<Constant>(user);
           return outer && is_in_vtables_alone(*outer);
         });
}

}  // namespace

bool is_called_from_anywhere(const Function& function) {
  if (!function.hasAddressTaken()) return false;
  return !all_of(function.uses(), [&](const Use& use) {
    if (auto* call = dyn_cast<CallBase>(use.getUser())) return call->isCallee(&use);
    auto* constant = dyn_cast<Constant>(use.getUser());
    return constant && is_in_vtables_alone(*constant);
  });
}

Borrow::Borrow(Function& function, MemorySSA& memory, AAResults& aliases)
    : function_(function),
      memory_(memory),
      called_from_anywhere_(is_called_from_anywhere(function)),
      clobber_(function, aliases) {
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

// It writes to the place what was computed from what the place had.
bool Borrow::renews(Instruction& writer, const PointerPlace& place, unsigned depth) {
  auto* store = dyn_cast<StoreInst>(&writer);
  const DataLayout& layout = function_.getDataLayout();
  if (!store || depth >= kMostRenewals ||
      !is_same_place(store->getPointerOperand(), place.address, layout)) {
    return false;
  }
  Sources sources;
  if (!find_sources(store->getValueOperand(), sources) || !sources.phis.empty()) return false;
  return all_of(sources.values, [&](Value* source) {
    auto* load = dyn_cast<LoadInst>(source);
    if (!load || !load->isSimple()) return false;
    if (load == place.since) return true;
    MemoryUseOrDef* access = memory_.getMemoryAccess(load);
    return access && is_same_place(load->getPointerOperand(), place.address, layout) &&
           memory_.getDomTree().dominates(place.since, load) &&
           still_holds(place, access->getDefiningAccess(), depth + 1);
  });
}

// From `before` backwards to where the place was read or written nothing changes it.
bool Borrow::still_holds(const PointerPlace& place, MemoryAccess* before, unsigned depth) {
  MemoryUseOrDef* since = memory_.getMemoryAccess(place.since);
  if (!since) return false;
  SmallPtrSet<MemoryAccess*, 16> seen;
  SmallVector<MemoryAccess*, 8> pending = {before};
  while (!pending.empty()) {
    MemoryAccess* access = pending.pop_back_val();
    if (!seen.insert(access).second || memory_.dominates(access, since)) continue;
    if (seen.size() > kMostAccesses) return false;
    if (auto* phi = dyn_cast<MemoryPhi>(access)) {
      for (auto& incoming : phi->incoming_values()) {
        pending.push_back(cast<MemoryAccess>(incoming));
      }
      continue;
    }
    auto* written = cast<MemoryDef>(access);
    Instruction& writer = *written->getMemoryInst();
    if (clobber_.may_change(writer, place) && !renews(writer, place, depth)) return false;
    pending.push_back(written->getDefiningAccess());
  }
  return true;
}

bool Borrow::still_holds(const PointerPlace& place, const Point& point) {
  for (Instruction* writer : point.more) {
    if (point.later ? clobber_.may_change_later(*writer, place)
                    : clobber_.may_change(*writer, place)) {
      return false;
    }
  }
  return still_holds(place, point.before);
}

// Does `holder` count as held only because `value` holds it?
bool Borrow::rests_on(const Value* holder, const Value* value) const {
  SmallPtrSet<const Value*, 16> seen;
  SmallVector<const Value*, 8> pending = {holder};
  while (!pending.empty()) {
    const Value* next = pending.pop_back_val();
    if (next == value) return true;
    if (!seen.insert(next).second) continue;
    if (seen.size() > kMostHolders) return true;
    if (auto* load = dyn_cast<LoadInst>(next)) {
      pending.push_back(getUnderlyingObject(load->getPointerOperand(), 0));
    } else if (auto* phi = dyn_cast<PHINode>(next)) {
      for (const Value* incoming : phi->incoming_values()) {
        pending.push_back(getUnderlyingObject(incoming, 0));
      }
    } else if (auto* select = dyn_cast<SelectInst>(next)) {
      pending.push_back(getUnderlyingObject(select->getTrueValue(), 0));
      pending.push_back(getUnderlyingObject(select->getFalseValue(), 0));
    }
    const auto known = holders_.find(next);
    if (known == holders_.end()) continue;
    pending.append(known->second.begin(), known->second.end());
  }
  return false;
}

bool Borrow::was_stored(Value* value, const Point& point) {
  if (isa<Constant>(value)) return false;
  SmallVector<Value*, 8> pending = {value};
  unsigned looked_at = 0;
  while (!pending.empty()) {
    Value* pointer = pending.pop_back_val();
    for (User* user : pointer->users()) {
      if (++looked_at > kMostUsers) return false;
      if (isa<GetElementPtrInst>(user) &&
          cast<GetElementPtrInst>(user)->getPointerOperand() == pointer) {
        pending.push_back(user);
        continue;
      }
      auto* store = dyn_cast<StoreInst>(user);
      if (!store || !store->isSimple() || store->getValueOperand() != pointer) continue;
      const Value* holder = getUnderlyingObject(store->getPointerOperand(), 0);
      // A local variable's memory goes without a mark of its own.
      if (isa<AllocaInst>(holder) || rests_on(holder, value)) continue;
      if (!memory_.getDomTree().dominates(store, point.at)) continue;
      if (!still_holds(place_of(*store), point)) continue;
      holders_[value].push_back(holder);
      return true;
    }
  }
  return false;
}

bool Borrow::is_borrowed_at(Value* value, const Point& point) {
  if (!point.later && was_stored(value->stripInBoundsOffsets(), point)) return true;
  Sources sources;
  if (!find_sources(value, sources)) return false;
  bool any = false;
  for (Value* source : sources.values) {
    if (isa<Constant>(source) || isa<AllocaInst>(source)) continue;
    // A parameter is the caller's as long as all callers are known to keep it.
    if (isa<Argument>(source) && !called_from_anywhere_) continue;
    any = true;
    if (!point.later && sources.phis.empty() && was_stored(source, point)) continue;
    auto* load = dyn_cast<LoadInst>(source);
    if (!load || !load->isSimple()) return false;
    // A local variable's memory goes without a mark of its own.
    if (isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand(), 0))) return false;
    for (const PHINode* phi : sources.phis) {
      if (in_cycle_with(phi->getParent(), load->getParent())) return false;
    }
    if (!still_holds(place_of(*load), point)) return false;
  }
  return any;
}

bool Borrow::is_borrowed(CallInst& mark) {
  MemoryUseOrDef* here = memory_.getMemoryAccess(&mark);
  return here &&
         is_borrowed_at(mark.getArgOperand(0), {&mark, here->getDefiningAccess(), {}, false});
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

Borrow::Meeting Borrow::own_meeting(CallInst& mark) {
  Meeting meeting{mark.getParent(), {}};
  for (Instruction& before : *meeting.block) {
    if (&before == &mark) break;
    if (before.mayWriteToMemory() && !as_mark(before)) meeting.writers.push_back(&before);
  }
  return meeting;
}

Borrow::Meeting Borrow::last_meeting(CallInst& mark) {
  Meeting meeting;
  MemoryUseOrDef* here = memory_.getMemoryAccess(&mark);
  MemoryAccess* access = here ? here->getDefiningAccess() : nullptr;
  for (unsigned i = 0; access && i < kMostWriters; ++i) {
    if (auto* phi = dyn_cast<MemoryPhi>(access)) {
      meeting.block = phi->getBlock();
      return meeting;
    }
    if (memory_.isLiveOnEntryDef(access)) break;
    auto* written = cast<MemoryDef>(access);
    meeting.writers.push_back(written->getMemoryInst());
    access = written->getDefiningAccess();
  }
  return {};
}

Borrow::Meeting Borrow::choosing_meeting(CallInst& mark, PHINode& chosen) {
  Meeting meeting{chosen.getParent(), {}};
  MemoryUseOrDef* here = memory_.getMemoryAccess(&mark);
  MemoryAccess* access = here ? here->getDefiningAccess() : nullptr;
  for (unsigned i = 0; access && i < kMostWriters; ++i) {
    if (!memory_.getDomTree().dominates(meeting.block, access->getBlock())) return meeting;
    auto* written = dyn_cast<MemoryDef>(access);
    if (!written) return access->getBlock() == meeting.block ? meeting : Meeting{};
    // At the entry, where nothing is before it.
    if (memory_.isLiveOnEntryDef(written)) return meeting;
    meeting.writers.push_back(written->getMemoryInst());
    access = written->getDefiningAccess();
  }
  return {};
}

bool Borrow::is_borrowed_from(const Meeting& meeting, Value* value, BasicBlock* way, bool back) {
  if (meeting.writers.size() > kMostWriters) return false;
  return is_borrowed_at(value, {way->getTerminator(), last_access(way), meeting.writers, back});
}

bool Borrow::is_made_before(const Instruction& made, const BasicBlock& block) const {
  return memory_.getDomTree().properlyDominates(made.getParent(), &block);
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
