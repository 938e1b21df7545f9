#include "emit.h"

#include <string>

#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace plumb::pass {

// Where the pointer is made: what is kept over the calls until then is not the reference, which
// would stay on the stack.
Value* Emitter::inverted(Instruction* before, Value* pointer) {
  Instruction* at = before;
  auto* made = dyn_cast<Instruction>(pointer);
  if (made && !made->isTerminator() && !isa<PHINode>(made) && !isa<AllocaInst>(made)) {
    at = made->getNextNonDebugInstruction();
  }
  IRBuilder<> builder(at);
  builder.SetCurrentDebugLocation(before->getDebugLoc());
  return builder.CreateNot(builder.CreatePtrToInt(pointer, word_));
}

Emitter::Tracked Emitter::if_in(IRBuilder<>& builder, Instruction* before, Value* pointer,
                                Value* arena) {
  Value* value = optimised_ ? builder.CreatePtrToInt(pointer, word_) : inverted(before, pointer);
  const std::uint64_t all = ~std::uint64_t{0} >> kArenaShift;
  Value* number =
      optimised_ ? arena_number(builder, value) : builder.CreateLShr(value, kArenaShift);
  if (!optimised_) arena = builder.CreateSub(builder.getInt64(all), arena);
  return {SplitBlockAndInsertIfThen(builder.CreateICmpEQ(number, arena), before, false), value};
}

Emitter::Tracked Emitter::if_tracked(Instruction* before, Value* pointer) {
  IRBuilder<> builder(before);
  return if_in(builder, before, pointer, builder.getInt64(kArenaNumber));
}

Emitter::Tracked Emitter::if_wanted(Instruction* before, Value* pointer) {
  IRBuilder<> builder(before);
  return if_in(builder, before, pointer, builder.CreateLoad(word_, hidden_word(kUseArena)));
}

void Emitter::call_runtime(const Tracked& tracked, const DebugLoc& where, Value* site) {
  IRBuilder<> builder(tracked.then);
  builder.SetCurrentDebugLocation(where);
  CallInst* call = builder.CreateCall(
      module_.getOrInsertFunction(kDrop, Type::getVoidTy(context_), word_, pointer_),
      {tracked.value, site});
  call->setDoesNotThrow();
  call->setTailCallKind(CallInst::TCK_NoTail);
}

// A shift, written so that nobody makes a mask and a constant of it: those take
// two registers in the whole function.
Value* Emitter::arena_number(IRBuilder<>& builder, Value* value) {
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

// To the optimiser it is memory that nobody else knows.
void Emitter::write_shadow(const Tracked& tracked, const DebugLoc& where, Value* site,
                           Shadow shadow) {
  IRBuilder<> builder(tracked.then);
  builder.SetCurrentDebugLocation(where);
  std::string code = std::string("movq ") + kClock + "@GOTTPOFF(%rip), $0\n\t";
  if (!optimised_) code += "notq $1\n\t";
  code += "addq $$" + std::to_string(1u << kPlaceBits) + ", %fs:($0)\n\t";
  code += "subq $3, $2\n\t";
  code += "shrq $$" + std::to_string(kShadowShift + 3) + ", $1\n\t";
  // Stores are done one after the other, also those of the program behind this one: the
  // line is to be there when its turn comes.
  if (shadow == Shadow::drops) code += "prefetchw (,$1,8)\n\t";
  // The half of the 32 bytes is the last bit that went out.
  code += "adcq %fs:($0), $2\n\t";
  if (shadow == Shadow::uses) code += "btsq $$" + std::to_string(kUseShadowBit - 3) + ", $1\n\t";
  code += "movq $2, (,$1,8)";
  if (!optimised_) code += "\n\txorl ${1:k}, ${1:k}";  // no trace of the reference
  StructType* scratch = StructType::get(context_, {word_, word_, word_});
  FunctionType* type = FunctionType::get(scratch, {pointer_, word_, word_}, false);
  CallInst* written = builder.CreateCall(
      InlineAsm::get(type, code, "=&r,=&r,=&r,*m,1,2,~{dirflag},~{fpsr},~{flags}", true),
      {hidden_word(kBias), tracked.value, builder.CreatePtrToInt(site, word_)});
  written->addParamAttr(0, Attribute::get(context_, Attribute::ElementType, word_));
  written->setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
  written->setDoesNotThrow();
  written->addFnAttr(Attribute::WillReturn);
}

GlobalVariable* Emitter::hidden_word(const char* name) {
  if (GlobalVariable* known = module_.getNamedGlobal(name)) return known;
  auto* word =
      new GlobalVariable(module_, word_, false, GlobalValue::ExternalLinkage, nullptr, name);
  word->setVisibility(GlobalValue::HiddenVisibility);
  return word;
}

}  // namespace plumb::pass
