#include "sampled_tracing.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "sampled_abi.h"
#include "sampled_choice.h"

using namespace llvm;

namespace plumb::pass {

Tracing::Tracing(Function& version, Halves& halves, const EntryChecks& entries)
    : version_(version),
      halves_(halves),
      entries_(entries),
      module_(*version.getParent()),
      context_(version.getContext()),
      int_(Type::getInt32Ty(context_)),
      pointer_(PointerType::getUnqual(context_)) {}

DebugLoc Tracing::location_of(const Instruction& instruction) {
  if (instruction.getDebugLoc() || !version_.getSubprogram()) return instruction.getDebugLoc();
  return DILocation::get(context_, 0, 0, version_.getSubprogram());
}

void Tracing::begin(Instruction* at) {
  IRBuilder<> builder(at);
  const FunctionCallee state =
      module_.getOrInsertFunction(kBurstState, FunctionType::get(pointer_, {}, false));
  CallInst* call = builder.CreateCall(state);
  call->setDoesNotThrow();
  if (DISubprogram* program = version_.getSubprogram()) {
    call->setDebugLoc(DILocation::get(context_, 0, 0, program));
  }
  burst_ = call;
}

Value* Tracing::field(IRBuilder<>& builder, unsigned offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), burst_, offset);
}

Value* Tracing::is_on(IRBuilder<>& builder) {
  Value* left = builder.CreateLoad(int_, field(builder, kStateLeft));
  return builder.CreateICmpSGT(left, builder.getInt32(0));
}

Value* Tracing::goes_on(IRBuilder<>& builder, const DebugLoc& place) {
  const FunctionCallee ask =
      module_.getOrInsertFunction(kBurstGoesOn, FunctionType::get(int_, {}, false));
  CallInst* call = builder.CreateCall(ask);
  call->setDebugLoc(place);
  call->setDoesNotThrow();
  return builder.CreateIsNotNull(call);
}

void Tracing::record_accesses() {
  FunctionCallee touch = module_.getOrInsertFunction(
      kTouch, FunctionType::get(Type::getVoidTy(context_), {pointer_}, false));
  if (auto* declared = dyn_cast<Function>(touch.getCallee())) {
    declared->setDoesNotThrow();
    declared->setCallingConv(CallingConv::PreserveMost);
    // The way through lazy binding would not preserve all that.
    declared->addFnAttr(Attribute::NonLazyBind);
  }
  for (BasicBlock* block : halves_.traced) {
    SmallPtrSet<const Value*, 8> known;  // recorded in this block already
    std::vector<std::pair<Instruction*, Value*>> accesses;
    for (Instruction& instruction : *block) {
      Value* address = heap_address(instruction);
      if (address && known.insert(address->stripInBoundsConstantOffsets()).second) {
        accesses.emplace_back(&instruction, address);
      }
    }
    for (const auto& [instruction, address] : accesses) {
      IRBuilder<> builder(instruction);
      CallInst* call = builder.CreateCall(touch, {address});
      call->setCallingConv(CallingConv::PreserveMost);
      call->setDebugLoc(location_of(*instruction));
      records_.emplace_back(call);
    }
  }
}

// Most accesses are not to sampled blocks: those call nobody.
void Tracing::expand_records() {
  MDNode* seldom = MDBuilder(context_).createBranchWeights(1, 1 << 12);
  for (const WeakTrackingVH& record : records_) {
    auto* call = dyn_cast_or_null<CallInst>(static_cast<Value*>(record));
    if (!call) continue;
    IRBuilder<> builder(call);
    Type* word = builder.getInt64Ty();
    Value* address = builder.CreatePtrToInt(call->getArgOperand(0), word);
    Value* begin = builder.CreateLoad(word, field(builder, kStateArena));
    Value* size = builder.CreateLoad(word, field(builder, kStateArenaSize));
    Value* sampled = builder.CreateICmpULT(builder.CreateSub(address, begin), size);
    Instruction* then = SplitBlockAndInsertIfThen(sampled, call, false, seldom);
    call->moveBefore(then);
  }
}

// A burst goes on in the functions that are called, when they are of this module.
void Tracing::follow_calls() {
  std::vector<std::pair<CallBase*, GlobalVariable*>> checked;
  for (BasicBlock* block : halves_.traced) {
    for (Instruction& instruction : *block) {
      auto* call = dyn_cast<CallBase>(&instruction);
      Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee || callee->isDeclaration()) continue;
      const auto entry = entries_.find(callee);
      if (entry != entries_.end())
        checked.emplace_back(call, entry->second.left);
      else
        unchecked_calls.emplace_back(call);
    }
  }
  for (const auto& [call, left] : checked) force(*call, left);
}

void Tracing::force(CallBase& call, GlobalVariable* left) {
  IRBuilder<> builder(&call);
  Value* address =
      left->isThreadLocal() ? builder.CreateThreadLocalAddress(left) : static_cast<Value*>(left);
  Value* on = is_on(builder);
  Value* bit = builder.CreateSelect(on, builder.getInt32(kForced), builder.getInt32(0));
  Value* forced = builder.CreateOr(builder.CreateLoad(int_, address), bit);
  // One more, since the check takes one off.
  builder.CreateStore(builder.CreateAdd(forced, builder.CreateZExt(on, int_)), address);
}

void Tracing::cross_over() {
  // The plain half is where most of the time goes.
  MDNode* even = MDBuilder(context_).createBranchWeights(1, 1);
  for (const Crossing& crossing : halves_.crossings) {
    BasicBlock* head = crossing.traced;
    BasicBlock* rest = SplitBlock(head, head->begin());
    head->getTerminator()->eraseFromParent();
    IRBuilder<> builder(head);
    Value* stays = nullptr;
    if (crossing.is_short) {
      Value* rounds = field(builder, kStateRounds);
      Value* left = builder.CreateSub(builder.CreateLoad(int_, rounds), builder.getInt32(1));
      builder.CreateStore(left, rounds);
      stays = builder.CreateICmpSGE(left, builder.getInt32(0));
    } else {
      stays = goes_on(builder, location_of(*rest->getFirstNonPHIIt()));
    }
    builder.CreateCondBr(stays, rest, crossing.plain, even);
  }
  for (const Crossing& way : halves_.returns) {
    Instruction* end = way.plain->getTerminator();
    BasicBlock* next = end->getSuccessor(0);
    IRBuilder<> builder(end);
    MDNode* seldom = MDBuilder(context_).createBranchWeights(1, 64);
    builder.CreateCondBr(is_on(builder), way.traced, next, seldom);
    end->eraseFromParent();
  }
}

}  // namespace plumb::pass
