#include "last_uses.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr std::size_t kMostBlocks = 64;
constexpr std::size_t kMostUsers = 64;  // of one pointer that was read

const DILocation* place_of(const Instruction& instruction) {
  const DILocation* location = instruction.getDebugLoc().get();
  return location && location->getLine() != 0 ? location : nullptr;
}

// How an instruction uses `value`; none when it only hands it on or compares it.
std::optional<UseKind> kind_of(const Instruction& user, const Value* value) {
  if (isa<LoadInst>(user)) return UseKind::access;
  if (auto* store = dyn_cast<StoreInst>(&user)) {
    return store->getPointerOperand() == value ? UseKind::access : UseKind::copy;
  }
  if (isa<AtomicRMWInst>(user) || isa<AtomicCmpXchgInst>(user) || isa<AnyMemIntrinsic>(user)) {
    return UseKind::access;
  }
  if (isa<IntrinsicInst>(user)) return std::nullopt;
  if (isa<CallBase>(user)) return UseKind::call;
  if (isa<PtrToIntInst>(user)) return UseKind::arithmetic;
  return std::nullopt;
}

bool hands_on(const Instruction& user) {
  return isa<GetElementPtrInst>(user) || isa<CastInst>(user) || isa<PHINode>(user) ||
         isa<SelectInst>(user) || isa<FreezeInst>(user);
}

bool frees(const Instruction& user, const Value* value) {
  auto* call = dyn_cast<CallBase>(&user);
  const Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || callee->hasLocalLinkage() || call->arg_empty() ||
      call->getArgOperand(0) != value) {
    return false;
  }
  const StringRef name = callee->getName();
  return name == "free" || name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv");
}

bool is_call(const Instruction& instruction) {
  return isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction);
}

}  // namespace

LastUses::LastUses(Function& function) : layout_(function.getDataLayout()) {
  if (!function.getSubprogram()) return;  // no lines
  collect(function);
  pass_on_changes();
  order();
}

void LastUses::collect(Function& function) {
  for (Instruction& instruction : instructions(function)) {
    if (auto* load = dyn_cast<LoadInst>(&instruction); load && load->getType()->isPointerTy()) {
      note_uses(*load);
    } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
      note_store(*store);
    } else if (auto* copy = dyn_cast<AnyMemIntrinsic>(&instruction)) {
      handed_out_.emplace_back(copy->getRawDest()->stripInBoundsOffsets(), copy);
    } else if (is_call(instruction)) {
      note_addresses(cast<CallBase>(instruction));
    }
  }
}

void LastUses::note_store(const StoreInst& store) {
  const Value* value = store.getValueOperand();
  // A number can be a pointer, too (uintptr_t, unions).
  if (layout_.getTypeStoreSize(value->getType()) != layout_.getPointerSize()) return;
  if (value->getType()->isPointerTy()) shared_.insert(value->stripInBoundsOffsets());
  auto* address = const_cast<Value*>(store.getPointerOperand());
  if (const Holder holder = holder_at(address); holder.base) {
    history_of(holder).change_at(&store);
    return;
  }
  // An element at some index: any of them.
  const Value* base = getUnderlyingObject(address);
  if (isa<AllocaInst>(base) || isa<GlobalVariable>(base)) handed_out_.emplace_back(base, &store);
}

// Whoever gets a variable's address may write to it, now and later.
void LastUses::note_addresses(const CallBase& call) {
  for (const Value* argument : call.args()) {
    const Value* base = argument->stripInBoundsOffsets();
    if (!isa<AllocaInst>(base)) continue;
    shared_.insert(base);
    handed_out_.emplace_back(base, &call);
  }
}

LastUses::Holder LastUses::holder_at(Value* address) const {
  const auto base_of = [this](const Value* of, std::int64_t& offset) -> const Value* {
    APInt bytes(layout_.getIndexTypeSizeInBits(of->getType()), 0);
    const Value* base = of->stripAndAccumulateConstantOffsets(layout_, bytes, true);
    offset = bytes.getSExtValue();
    return base;
  };
  const auto is_variable = [](const Value* base) {
    return isa<AllocaInst>(base) || isa<GlobalVariable>(base);
  };
  Holder holder;
  std::int64_t offset = 0;
  const Value* base = base_of(address, offset);
  if (is_variable(base)) {
    holder.base = base;
    holder.offset = offset;
  } else if (auto* load = dyn_cast<LoadInst>(base)) {
    base = base_of(load->getPointerOperand(), holder.offset);
    if (is_variable(base)) holder.base = base;
    holder.inner = offset;
  }
  return holder;
}

// What is done with the pointer that was read here.
void LastUses::note_uses(LoadInst& load) {
  const Holder holder = holder_at(load.getPointerOperand());
  if (!holder.base) return;
  History& history = history_of(holder);
  SmallVector<const Value*, 8> pending = {&load};
  SmallPtrSet<const Value*, 16> seen;
  for (std::size_t looked = 0; !pending.empty() && looked < kMostUsers;) {
    const Value* value = pending.pop_back_val();
    for (const User* each : value->users()) {
      ++looked;
      auto* user = dyn_cast<Instruction>(each);
      if (!user || !seen.insert(user).second) continue;
      if (const auto what = kind_of(*user, value)) {
        const DILocation* where = place_of(*user);
        // `p = f(p)`: what is stored anew counts.
        if (where) history.events.try_emplace(user, where, *what, frees(*user, value));
      } else if (hands_on(*user)) {
        pending.push_back(user);
      }
    }
  }
}

// A variable that gets something new has other members behind it, too, and so has one that a
// call was given.
void LastUses::pass_on_changes() {
  for (auto& [key, history] : histories_) {
    for (const auto& [base, at] : handed_out_) {
      if (base == key.first) history.change_at(at);
    }
    const auto& [offset, inner] = key.second;
    if (inner == kNotFollowed) continue;
    const auto outer = histories_.find(Holder{key.first, offset}.key());
    if (outer == histories_.end()) continue;
    for (const auto& [at, use] : outer->second.events) {
      const bool own = history.events.contains(at);
      if (!use.where || (use.what == UseKind::call && !own)) history.change_at(at);
    }
  }
}

void LastUses::order() {
  for (auto& [key, history] : histories_) {
    for (const auto& [at, use] : history.events) {
      Event& last = history.last[at->getParent()];
      if (!last.at || last.at->comesBefore(at)) last = {at, use};
    }
  }
}

const LastUses::History* LastUses::history_at(Value* address) const {
  const Holder holder = holder_at(address);
  const auto known = holder.base ? histories_.find(holder.key()) : histories_.end();
  return known == histories_.end() ? nullptr : &known->second;
}

LastUses::History& LastUses::history_of(const Holder& holder) {
  History& history = histories_[holder.key()];
  history.holder = holder.key();
  return history;
}

// Is that the way on which the pointer was found to be null? Then nothing is referred to.
bool LastUses::is_null_on(const History& history, const BasicBlock& from,
                          const BasicBlock& to) const {
  auto* branch = dyn_cast<BranchInst>(from.getTerminator());
  auto* compare =
      branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
  if (!compare || !compare->isEquality() || !isa<ConstantPointerNull>(compare->getOperand(1)) ||
      branch->getSuccessor(0) == branch->getSuccessor(1)) {
    return false;
  }
  auto* load = dyn_cast<LoadInst>(compare->getOperand(0));
  if (!load || load->getParent() != &from) return false;
  const bool null_first = compare->getPredicate() == ICmpInst::ICMP_EQ;
  if (branch->getSuccessor(null_first ? 0 : 1) != &to) return false;
  return holder_at(const_cast<Value*>(load->getPointerOperand())).key() == history.holder;
}

// In the point's own block. Marks that were put in since have no events.
std::optional<LastUses::Event> LastUses::last_in(const History& history,
                                                 const Instruction* before) {
  for (const Instruction* at = before->getPrevNode(); at; at = at->getPrevNode()) {
    const auto known = history.events.find(at);
    if (known != history.events.end()) return Event{at, known->second};
  }
  return std::nullopt;
}

template <typename Agrees>
bool LastUses::go_back(const History& history, ArrayRef<const Instruction*> points,
                       Agrees agrees) const {
  SmallPtrSet<const BasicBlock*, 16> seen;
  SmallVector<const BasicBlock*, 16> pending;
  const auto leave = [&](const BasicBlock& block) {
    if (pred_empty(&block)) return false;
    for (const BasicBlock* from : predecessors(&block)) {
      if (is_null_on(history, *from, block)) continue;
      if (seen.insert(from).second) pending.push_back(from);
    }
    return seen.size() <= kMostBlocks;
  };
  for (const Instruction* point : points) {
    const std::optional<Event> event = last_in(history, point);
    if (event ? !agrees(*event) : !leave(*point->getParent())) return false;
  }
  while (!pending.empty()) {
    const BasicBlock* block = pending.pop_back_val();
    const auto last = history.last.find(block);
    if (last != history.last.end() ? !agrees(last->second) : !leave(*block)) return false;
  }
  return true;
}

std::optional<PointerUse> LastUses::before(Value* address,
                                           ArrayRef<const Instruction*> points) const {
  const History* history = history_at(address);
  if (!history) return std::nullopt;
  std::optional<PointerUse> found;
  const bool same = go_back(*history, points, [&](const Event& event) {
    if (event.use.frees) return true;  // not the way on which it is lost
    if (!event.is_use() || (found && found->where != event.use.where)) return false;
    found = event.use;
    return true;
  });
  return same ? found : std::nullopt;
}

bool LastUses::is_touched_between(Value* address, ArrayRef<const Instruction*> points,
                                  const Instruction& end) const {
  const History* history = history_at(address);
  if (!history) return false;
  if (last_in(*history, &end)) return true;
  SmallPtrSet<const BasicBlock*, 16> seen;
  for (const Instruction* point : points) seen.insert(point->getParent());
  SmallVector<const BasicBlock*, 16> pending = {end.getParent()};
  while (!pending.empty()) {
    for (const BasicBlock* from : predecessors(pending.pop_back_val())) {
      if (!seen.insert(from).second) continue;
      if (history->last.contains(from) || seen.size() > kMostBlocks) return true;
      pending.push_back(from);
    }
  }
  return false;
}

bool LastUses::is_private(Value* address) const {
  const Holder holder = holder_at(address);
  return holder.inner == kNotFollowed && isa_and_nonnull<AllocaInst>(holder.base) &&
         !shared_.contains(holder.base);
}

bool LastUses::is_freed_before(Value* address, const Instruction& point) const {
  const History* history = history_at(address);
  if (!history) return false;
  if (is_private(address)) {
    return go_back(*history, {&point}, [](const Event& event) { return event.use.frees; });
  }
  // Others can write to it: only as long as nobody else is called and nothing is stored.
  for (const Instruction* at = point.getPrevNode(); at; at = at->getPrevNode()) {
    const auto known = history->events.find(at);
    if (known != history->events.end()) return known->second.frees;
    auto* store = dyn_cast<StoreInst>(at);
    const bool stores = store && store->getValueOperand()->getType()->isPointerTy();
    if (is_call(*at) || stores || isa<AnyMemIntrinsic>(at)) return false;
  }
  return false;
}

}  // namespace plumb::pass
