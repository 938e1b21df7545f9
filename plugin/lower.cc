#include "lower.h"

#include <cstdlib>
#include <optional>

#include "borrow.h"
#include "cover.h"
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
                             "btl $$4, ${1:k}\n\t"
                             "adcq %fs:($0), $2\n\t"
                             "shrq $$" +
                             std::to_string(kShadowShift + 3) +
                             ", $1\n\t"
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

bool lower_function(Function& function, Sites& sites, MemorySSA* memory, AAResults* aliases,
                    LowerCounts& counts) {
  const bool optimised = memory != nullptr;
  std::vector<CallInst*> marks;
  for (Instruction& instruction : instructions(function)) {
    if (CallInst* mark = as_mark(instruction)) marks.push_back(mark);
  }
  if (marks.empty()) return false;
  // Removal asks about memory as it is: decide for all, then change.
  // Whoever calls through a pointer may keep nothing: a thread's start does not.
  const bool called_from_anywhere = function.hasAddressTaken();
  Cover cover(function);
  std::optional<Borrow> borrow;
  if (optimised) borrow.emplace(function, *memory, *aliases);
  std::vector<CallInst*> kept;
  std::vector<CallInst*> removed;
  std::vector<std::pair<CallInst*, BasicBlock*>> moves;
  for (CallInst* mark : marks) {
    ++counts.marks;
    unsigned* reason = nullptr;
    if (is_constant(mark->getArgOperand(0)))
      reason = &counts.constant;
    else if (!called_from_anywhere && isa<Argument>(mark->getArgOperand(0)->stripInBoundsOffsets()))
      reason = &counts.argument;
    else if (optimised && (borrow->is_borrowed(*mark) || Borrow::moves_within(*mark)))
      reason = &counts.borrowed;
    else if (optimised && cover.covers(*mark))
      reason = &counts.covered;
    if (reason) ++*reason;
    (reason ? removed : kept).push_back(mark);
    if (reason || !optimised) continue;
    // Where ways meet, it may be repeated on some of them: it moves to the others.
    std::vector<BasicBlock*> others;
    unsigned* partly = nullptr;
    if (cover.covers_on_some_way(*mark, others)) partly = &counts.covered;
    if (!partly) {
      others.clear();
      if (borrow->is_borrowed_on_some_way(*mark, others)) partly = &counts.borrowed;
    }
    if (!partly) continue;
    for (BasicBlock* way : others) moves.push_back({mark, way});
    removed.push_back(mark);
    kept.pop_back();
    ++*partly;
  }
  for (const auto& [mark, way] : moves) {
    auto* moved = cast<CallInst>(mark->clone());
    moved->insertBefore(way->getTerminator());
    moved->setArgOperand(0, mark->getArgOperand(0)->DoPHITranslation(mark->getParent(), way));
    kept.push_back(moved);
  }
  for (CallInst* mark : removed) mark->eraseFromParent();
  Lowering lowering(function, optimised);
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
