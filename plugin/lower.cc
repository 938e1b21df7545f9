#include "lower.h"

#include <cstdlib>
#include <optional>

#include "borrow.h"
#include "cover.h"
#include "emit.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "mark.h"
#include "members.h"
#include "thunks.h"

using namespace llvm;

namespace plumb::pass {

namespace {

bool is_constant(Value* value) {
  value = value->stripPointerCasts();
  if (isa<Constant>(value)) {
    auto* expression = dyn_cast<ConstantExpr>(value);
    return !expression || expression->getOpcode() != Instruction::IntToPtr;
  }
  const Value* base = getUnderlyingObject(value, 0);
  return isa<AllocaInst>(base) || isa<GlobalValue>(base) || isa<ConstantPointerNull>(base);
}

// Set by `plumb cc -fplumb=stacks`: each drop is to have its calls.
bool wants_stacks() { return std::getenv("PLUMB_PASS_STACKS") != nullptr; }

// PLUMB_PASS_STATS=marks: each mark that is left, and what it is about.
bool lists_marks() {
  const char* wish = std::getenv("PLUMB_PASS_STATS");
  return wish != nullptr && StringRef(wish) == "marks";
}

constexpr unsigned kMostWays = 8;

// Decides what becomes of each mark. Asks about memory as it is: nothing changes
// before all is decided.
class Removal {
 public:
  Removal(Function& function, MemorySSA* memory, AAResults* aliases, LowerCounts& counts)
      // Whoever calls through a pointer may keep nothing: a thread's start does not.
      : called_from_anywhere_(is_called_from_anywhere(function)),
        cover_(function),
        counts_(counts) {
    if (memory && !keep_all_) borrow_.emplace(function, *memory, *aliases);
  }

  void decide(CallInst& mark) {
    ++counts_.marks;
    unsigned* reason = reason_against(mark);
    if (!reason) reason = decide_ways(mark);
    if (reason) ++*reason;
    if (!reason) kept_.push_back(&mark);
  }

  // What is left of them, after the others are gone.
  std::vector<CallInst*> carry_out() {
    for (const Move& move : moves_) {
      auto* moved = cast<CallInst>(move.mark->clone());
      moved->insertBefore(move.way->getTerminator());
      moved->setArgOperand(0, move.value);
      kept_.push_back(moved);
    }
    for (const Choice& choice : choices_) {
      BasicBlock* meeting = choice.meeting;
      Type* pointer = choice.mark->getArgOperand(0)->getType();
      auto* chosen = PHINode::Create(pointer, choice.ways.size(), "", meeting->begin());
      for (BasicBlock* way : predecessors(meeting)) {
        Value* value = choice.ways.lookup(way);
        chosen->addIncoming(value ? value : Constant::getNullValue(pointer), way);
      }
      choice.mark->setArgOperand(0, chosen);
      kept_.push_back(choice.mark);
    }
    for (CallInst* mark : removed_) mark->eraseFromParent();
    return std::move(kept_);
  }

 private:
  struct Move {
    CallInst* mark;
    BasicBlock* way;
    Value* value;
  };
  struct Choice {
    CallInst* mark;
    BasicBlock* meeting;
    MapVector<BasicBlock*, Value*> ways;  // on which it stays, and for what
  };

  unsigned* reason_against(CallInst& mark) {
    Value* value = mark.getArgOperand(0);
    unsigned* reason = nullptr;
    if (is_constant(value))
      reason = &counts_.constant;
    else if (!keep_all_ && !called_from_anywhere_ && isa<Argument>(value->stripInBoundsOffsets()))
      reason = &counts_.argument;
    else if (borrow_ && (borrow_->is_borrowed(mark) || Borrow::moves_within(mark)))
      reason = &counts_.borrowed;
    else if (borrow_ && cover_.covers(mark))
      reason = &counts_.covered;
    if (reason) removed_.push_back(&mark);
    return reason;
  }

  // Where ways meet, there may be a reason against it on some of them.
  unsigned* decide_ways(CallInst& mark) {
    auto* made = dyn_cast<Instruction>(mark.getArgOperand(0));
    if (!borrow_ || !made) return nullptr;
    if (unsigned* reason = decide_at(mark, *made, Borrow::own_meeting(mark))) return reason;
    const Borrow::Meeting last = borrow_->last_meeting(mark);
    if (last.block && last.block != mark.getParent()) {
      if (unsigned* reason = decide_at(mark, *made, last)) return reason;
    }
    auto* chosen = dyn_cast<PHINode>(made);
    if (!chosen || chosen->getParent() == mark.getParent()) return nullptr;
    const Borrow::Meeting choosing = borrow_->choosing_meeting(mark, *chosen);
    if (!choosing.block || choosing.block == last.block) return nullptr;
    return decide_at(mark, *made, choosing);
  }

  unsigned* decide_at(CallInst& mark, Instruction& made, const Borrow::Meeting& meeting) {
    BasicBlock* block = meeting.block;
    const bool chosen = isa<PHINode>(made) && made.getParent() == block;
    if (!chosen && !borrow_->is_made_before(made, *block)) return nullptr;
    SmallPtrSet<BasicBlock*, 8> ways(pred_begin(block), pred_end(block));
    if (ways.size() < 2 || ways.size() > kMostWays) return nullptr;
    const bool own = block == mark.getParent();
    MapVector<BasicBlock*, Value*> others;
    unsigned borrowed = 0;
    unsigned covered = 0;
    bool movable = own && isa<Constant>(mark.getArgOperand(1)) && is_first(mark);
    for (BasicBlock* way : ways) {
      Value* value = made.DoPHITranslation(block, way);
      if (is_constant(value)) continue;
      // On the way back of a loop another value has the name, unless it is chosen here.
      const bool back = borrow_->in_cycle_with(way, block);
      if ((!back || chosen) && borrow_->is_borrowed_from(meeting, value, way, back)) {
        ++borrowed;
      } else if (own && cover_.covers_from(mark, value, way)) {
        ++covered;
      } else {
        others[way] = value;
        auto* jump = dyn_cast<BranchInst>(way->getTerminator());
        movable &= jump && jump->isUnconditional();
      }
    }
    if (borrowed + covered == 0 || others.contains(block)) return nullptr;
    if (movable || others.empty()) {
      for (const auto& [way, value] : others) moves_.push_back({&mark, way, value});
      removed_.push_back(&mark);
    } else {
      choices_.push_back({&mark, block, std::move(others)});
    }
    return borrowed > covered ? &counts_.borrowed : &counts_.covered;
  }

  // Nothing is before it in its block but other marks.
  static bool is_first(CallInst& mark) {
    for (Instruction& before : *mark.getParent()) {
      if (&before == &mark) return true;
      if (before.mayWriteToMemory() && !as_mark(before)) return false;
    }
    return true;
  }

  const bool keep_all_ = keeps_all();
  const bool called_from_anywhere_;
  Cover cover_;
  std::optional<Borrow> borrow_;  // none for code that is not optimised
  LowerCounts& counts_;
  std::vector<CallInst*> kept_;
  std::vector<CallInst*> removed_;
  std::vector<Move> moves_;
  std::vector<Choice> choices_;
};

void list(const Function& function, ArrayRef<CallInst*> marks) {
  for (const CallInst* mark : marks) {
    errs() << function.getName() << ":";
    if (mark->getDebugLoc()) errs() << mark->getDebugLoc().getLine();
    errs() << " " << *mark->getArgOperand(0) << "\n";
  }
}

}  // namespace

bool lower_function(Function& function, Sites& sites, MemorySSA* memory, AAResults* aliases,
                    FrequenciesOf frequencies_of, LowerCounts& counts) {
  std::vector<CallInst*> marks;
  for (Instruction& instruction : instructions(function)) {
    if (CallInst* mark = as_mark(instruction)) marks.push_back(mark);
  }
  if (marks.empty()) return false;
  Removal removal(function, memory, aliases, counts);
  for (CallInst* mark : marks) removal.decide(*mark);
  std::vector<CallInst*> kept = removal.carry_out();
  counts.lowered += kept.size();
  if (lists_marks()) list(function, kept);
  const bool inline_stores = memory != nullptr && !wants_stacks();
  Emitter emitter(function, inline_stores);
  Module& module = *function.getParent();
  const auto inlined = [&](CallInst& mark, Value* site) {
    auto* row = dyn_cast<GlobalVariable>(site);
    if (!row || !mark.getDebugLoc()) return site;
    return static_cast<Value*>(sites.inlined_at(module, row, mark.getDebugLoc()->getInlinedAt()));
  };
  bool thunks = false;
  if (inline_stores && shares_drops(module)) {
    SmallPtrSet<const CallInst*, 32> done;
    for (const MemberDrops& drops : member_drops(kept)) {
      for (const MemberDrop& member : drops.members) done.insert(member.mark);
      drop_members(
          drops, [&](CallInst& mark, Constant* row) { return cast<Constant>(inlined(mark, row)); });
      thunks = true;
    }
    erase_if(kept, [&](const CallInst* mark) { return done.contains(mark); });
  }
  InLine in_line;
  if (inline_stores && !kept.empty()) in_line = drops_in_line(function, kept, frequencies_of);
  for (CallInst* mark : kept) {
    Value* site = inlined(*mark, mark->getArgOperand(1));
    if (inline_stores && !in_line.contains(mark)) {
      drop_out_of_line(mark, mark->getArgOperand(0), site);
      mark->eraseFromParent();
      thunks = true;
      continue;
    }
    const Emitter::Tracked tracked = emitter.if_tracked(mark, mark->getArgOperand(0));
    if (inline_stores) {
      emitter.write_shadow(tracked, mark->getDebugLoc(), site, Emitter::Shadow::drops);
    } else {
      emitter.call_runtime(tracked, mark->getDebugLoc(), site);
    }
    mark->eraseFromParent();
  }
  if (thunks) add_thunks(module, emitter.hidden_word(kBias));
  return true;
}

}  // namespace plumb::pass
