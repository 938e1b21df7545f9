#include "lower.h"

#include <cstdlib>

#include "cover.h"
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
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

// Read from memory that has not been written to since: it is still there, and
// goes, if it goes, with that memory.
bool is_borrowed(CallInst& mark, MemorySSA& memory) {
  auto* load = dyn_cast<LoadInst>(mark.getArgOperand(0)->stripInBoundsOffsets());
  if (!load || !load->isSimple()) return false;
  // A local variable's memory goes without a mark of its own.
  if (isa<AllocaInst>(getUnderlyingObject(load->getPointerOperand(), 0))) return false;
  MemoryUseOrDef* here = memory.getMemoryAccess(&mark);
  MemoryUseOrDef* there = memory.getMemoryAccess(load);
  if (!here || !there) return false;
  MemorySSAWalker* walker = memory.getSkipSelfWalker();
  MemoryAccess* since =
      walker->getClobberingMemoryAccess(here->getDefiningAccess(), MemoryLocation::get(load));
  return memory.dominates(since, there);
}

// Set by `plumb cc -fplumb=stacks`: each drop is to have its calls.
bool wants_stacks() { return std::getenv("PLUMB_PASS_STACKS") != nullptr; }

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
    Value* tracked =
        builder.CreateICmpEQ(builder.CreateLShr(value, kArenaShift),
                             builder.getInt64(optimised_ ? kArenaNumber : ~kArenaNumber & all));
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

  void write_shadow(Instruction* at, CallInst& mark, Value* value, Value* site) {
    IRBuilder<> builder(at);
    builder.SetCurrentDebugLocation(mark.getDebugLoc());
    Value* clock = builder.CreateThreadLocalAddress(clock_variable());
    Value* time = builder.CreateAdd(builder.CreateLoad(word_, clock),
                                    builder.getInt64(std::uint64_t{1} << kPlaceBits));
    builder.CreateStore(time, clock);
    Value* number = builder.CreateSub(builder.CreatePtrToInt(site, word_),
                                      builder.CreateLoad(word_, bias_variable()));
    Value* shadow =
        builder.CreateIntToPtr(builder.CreateAnd(builder.CreateLShr(value, kShadowShift),
                                                 builder.getInt64(~std::uint64_t{7})),
                               pointer_);
    Value* half = builder.CreateAnd(builder.CreateLShr(value, 4), builder.getInt64(1));
    builder.CreateStore(builder.CreateAdd(builder.CreateAdd(time, number), half), shadow);
  }

  GlobalVariable* clock_variable() {
    if (GlobalVariable* known = module_.getNamedGlobal(kClock)) return known;
    return new GlobalVariable(module_, word_, false, GlobalValue::ExternalLinkage, nullptr, kClock,
                              nullptr, GlobalValue::InitialExecTLSModel);
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

bool lower_function(Function& function, Sites& sites, MemorySSA* memory, bool optimised,
                    LowerCounts& counts) {
  std::vector<CallInst*> marks;
  for (Instruction& instruction : instructions(function)) {
    if (CallInst* mark = as_mark(instruction)) marks.push_back(mark);
  }
  if (marks.empty()) return false;
  // Removal asks about memory as it is: decide for all, then change.
  // Whoever calls through a pointer may keep nothing: a thread's start does not.
  const bool called_from_anywhere = function.hasAddressTaken();
  Cover cover(function);
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
    else if (memory && is_borrowed(*mark, *memory))
      reason = &counts.borrowed;
    else if (optimised && cover.covers(*mark))
      reason = &counts.covered;
    if (reason) ++*reason;
    (reason ? removed : kept).push_back(mark);
    if (reason || !optimised) continue;
    // Where ways meet, it may be repeated on some of them: it moves to the others.
    std::vector<BasicBlock*> others;
    if (!cover.covers_on_some_way(*mark, others)) continue;
    for (BasicBlock* way : others) moves.push_back({mark, way});
    removed.push_back(mark);
    kept.pop_back();
    ++counts.covered;
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
    lowering.lower(*mark, site);
    ++counts.lowered;
  }
  return true;
}

}  // namespace plumb::pass
