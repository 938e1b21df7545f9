#include "lower.h"

#include <cstdlib>
#include <optional>

#include "borrow.h"
#include "cover.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "mark.h"

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

// PLUMB_PASS_KEEP=1: nothing is removed but what cannot refer to a block, to compare
// with (bench/injected.py).
bool keeps_all() { return std::getenv("PLUMB_PASS_KEEP") != nullptr; }

// PLUMB_PASS_STATS=marks: each mark that is left, and what it is about.
bool lists_marks() {
  const char* wish = std::getenv("PLUMB_PASS_STATS");
  return wish != nullptr && StringRef(wish) == "marks";
}

class Lowering {
 public:
  Lowering(Function& function, bool optimised)
      : module_(*function.getParent()),
        context_(function.getContext()),
        optimised_(optimised && !wants_stacks()),
        word_(Type::getInt64Ty(context_)),
        pointer_(PointerType::getUnqual(context_)) {}

  void lower(CallInst& mark, Value* site) {
    IRBuilder<> builder(&mark);
    Value* value = builder.CreatePtrToInt(mark.getArgOperand(0), word_);
    // Code that is not optimised keeps what it works with on the stack. What is
    // only there for our sake must not look like a reference.
    if (!optimised_) value = builder.CreateNot(value);
    const std::uint64_t all = ~std::uint64_t{0} >> kArenaShift;
    Value* number =
        optimised_ ? arena_number(builder, value) : builder.CreateLShr(value, kArenaShift);
    Value* tracked = builder.CreateICmpEQ(
        number, builder.getInt64(optimised_ ? kArenaNumber : ~kArenaNumber & all));
    Instruction* then = SplitBlockAndInsertIfThen(tracked, &mark, false);
    if (!optimised_) {
      call_runtime(then, mark, value, site);
    } else {
      write_shadow(then, mark, value, site);
    }
    mark.eraseFromParent();
  }

 private:
  void call_runtime(Instruction* at, CallInst& mark, Value* value, Value* site) {
    IRBuilder<> builder(at);
    builder.SetCurrentDebugLocation(mark.getDebugLoc());
    CallInst* call = builder.CreateCall(
        module_.getOrInsertFunction(kDrop, Type::getVoidTy(context_), word_, pointer_),
        {value, site});
    call->setDoesNotThrow();
    call->setTailCallKind(CallInst::TCK_NoTail);
  }

  // A shift, written so that nobody makes a mask and a constant of it: those take
  // two registers in the whole function.
  Value* arena_number(IRBuilder<>& builder, Value* value) {
    FunctionType* type = FunctionType::get(word_, {word_}, false);
    CallInst* shifted =
        builder.CreateCall(InlineAsm::get(type, "shrq $$" + std::to_string(kArenaShift) + ", $0",
                                          "=r,0,~{dirflag},~{fpsr},~{flags}", false),
                           {value});
    shifted->setDoesNotAccessMemory();
    shifted->setDoesNotThrow();
    shifted->addFnAttr(Attribute::WillReturn);
    return shifted;
  }

  // The time goes on, the place gets its number, and both go into the shadow word.
  // To the optimiser it is memory that nobody else knows.
  void write_shadow(Instruction* at, CallInst& mark, Value* value, Value* site) {
    IRBuilder<> builder(at);
    builder.SetCurrentDebugLocation(mark.getDebugLoc());
    const std::string code = std::string("movq ") + kClock +
                             "@GOTTPOFF(%rip), $0\n\t"
                             "addq $$" +
                             std::to_string(1u << kPlaceBits) +
                             ", %fs:($0)\n\t"
                             "subq $3, $2\n\t"
                             "shrq $$" +
                             std::to_string(kShadowShift + 3) +
                             // The half of the 32 bytes is the last bit that went out.
                             ", $1\n\t"
                             "adcq %fs:($0), $2\n\t"
                             "movq $2, (,$1,8)";
    StructType* scratch = StructType::get(context_, {word_, word_, word_});
    FunctionType* type = FunctionType::get(scratch, {pointer_, word_, word_}, false);
    CallInst* written = builder.CreateCall(
        InlineAsm::get(type, code, "=&r,=&r,=&r,*m,1,2,~{dirflag},~{fpsr},~{flags}", true),
        {bias_variable(), value, builder.CreatePtrToInt(site, word_)});
    written->addParamAttr(0, Attribute::get(context_, Attribute::ElementType, word_));
    written->setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
    written->setDoesNotThrow();
    written->addFnAttr(Attribute::WillReturn);
  }

  GlobalVariable* bias_variable() {
    if (GlobalVariable* known = module_.getNamedGlobal(kBias)) return known;
    auto* bias =
        new GlobalVariable(module_, word_, false, GlobalValue::ExternalLinkage, nullptr, kBias);
    bias->setVisibility(GlobalValue::HiddenVisibility);
    return bias;
  }

  Module& module_;
  LLVMContext& context_;
  const bool optimised_;
  Type* word_;
  PointerType* pointer_;
};

}  // namespace

namespace {

constexpr unsigned kMostWays = 8;

// Decides what becomes of each mark. Asks about memory as it is: nothing changes
// before all is decided.
class Removal {
 public:
  Removal(Function& function, MemorySSA* memory, AAResults* aliases, LowerCounts& counts)
      // Whoever calls through a pointer may keep nothing: a thread's start does not.
      : called_from_anywhere_(function.hasAddressTaken()), cover_(function), counts_(counts) {
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
    if (!last.block || last.block == mark.getParent()) return nullptr;
    return decide_at(mark, *made, last);
  }

  unsigned* decide_at(CallInst& mark, Instruction& made, const Borrow::Meeting& meeting) {
    BasicBlock* block = meeting.block;
    const bool chosen = isa<PHINode>(made) && made.getParent() == block;
    if (!chosen && !borrow_->is_made_before(made, *block)) return nullptr;
    SmallPtrSet<BasicBlock*, 8> ways(pred_begin(block), pred_end(block));
    if (ways.size() < 2 || ways.size() > kMostWays || ways.contains(block)) return nullptr;
    const bool own = block == mark.getParent();
    MapVector<BasicBlock*, Value*> others;
    unsigned borrowed = 0;
    unsigned covered = 0;
    bool movable = own && isa<Constant>(mark.getArgOperand(1)) && is_first(mark);
    for (BasicBlock* way : ways) {
      Value* value = made.DoPHITranslation(block, way);
      if (is_constant(value)) continue;
      // On the way back of a loop another value has the name.
      const bool back = borrow_->in_cycle_with(way, block);
      if (!back && borrow_->is_borrowed_from(meeting, value, way)) {
        ++borrowed;
      } else if (own && cover_.covers_from(mark, value, way)) {
        ++covered;
      } else {
        others[way] = value;
        auto* jump = dyn_cast<BranchInst>(way->getTerminator());
        movable &= jump && jump->isUnconditional();
      }
    }
    if (borrowed + covered == 0) return nullptr;
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

}  // namespace

bool lower_function(Function& function, Sites& sites, MemorySSA* memory, AAResults* aliases,
                    LowerCounts& counts) {
  std::vector<CallInst*> marks;
  for (Instruction& instruction : instructions(function)) {
    if (CallInst* mark = as_mark(instruction)) marks.push_back(mark);
  }
  if (marks.empty()) return false;
  Removal removal(function, memory, aliases, counts);
  for (CallInst* mark : marks) removal.decide(*mark);
  const std::vector<CallInst*> kept = removal.carry_out();
  Lowering lowering(function, memory != nullptr);
  Module& module = *function.getParent();
  for (CallInst* mark : kept) {
    Value* site = mark->getArgOperand(1);
    if (auto* row = dyn_cast<GlobalVariable>(site); row && mark->getDebugLoc()) {
      site = sites.inlined_at(module, row, mark->getDebugLoc()->getInlinedAt());
    }
    if (lists_marks()) {
      errs() << function.getName() << ":";
      if (mark->getDebugLoc()) errs() << mark->getDebugLoc().getLine();
      errs() << " " << *mark->getArgOperand(0) << "\n";
    }
    lowering.lower(*mark, site);
    ++counts.lowered;
  }
  return true;
}

}  // namespace plumb::pass
