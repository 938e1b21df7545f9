#include "sampled_ask.h"

#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "sampled_abi.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr const char* kAskSuffix = ".plumb_traced_ask";

class Writer : public IRBuilder<> {
 public:
  Writer(BasicBlock* block, const DebugLoc& place) : IRBuilder<>(block) {
    SetCurrentDebugLocation(place);
  }
};

// The blocks of an asking function: what happens with a burst, and without.
class Ask {
 public:
  Ask(Function& function, const Check& check, FunctionType* type)
      : made_(make_cold(function, type, kAskSuffix)),
        context_(function.getContext()),
        begins_(BasicBlock::Create(context_, "begins", made_)),
        plain_(BasicBlock::Create(context_, "plain", made_)) {
    Writer builder(BasicBlock::Create(context_, "ask", made_, begins_), nowhere());
    builder.CreateCondBr(builder.CreateIsNotNull(burst_begins(builder, check)), begins_, plain_);
  }

  Function* made() { return made_; }
  BasicBlock* with_burst() { return begins_; }
  BasicBlock* without() { return plain_; }

  // Line 0 marks frames that are not in the source.
  DebugLoc nowhere() {
    DISubprogram* program = made_->getSubprogram();
    return program ? DebugLoc(DILocation::get(context_, 0, 0, program)) : DebugLoc();
  }

 private:
  Function* made_;
  LLVMContext& context_;
  BasicBlock* begins_;
  BasicBlock* plain_;
};

CallInst* call_like(IRBuilder<>& builder, Function& callee, const Function& like,
                    ArrayRef<Value*> arguments) {
  CallInst* call = builder.CreateCall(&callee, arguments);
  call->setCallingConv(like.getCallingConv());
  call->setAttributes(passing_attributes(like));
  return call;
}

std::vector<Value*> arguments_of(Function& function) {
  std::vector<Value*> arguments;
  for (Argument& argument : function.args()) arguments.push_back(&argument);
  return arguments;
}

}  // namespace

AttrBuilder cold_attributes(const Function& function) {
  AttrBuilder attributes(function.getContext(), function.getAttributes().getFnAttrs());
  for (const Attribute::AttrKind kind :
       {Attribute::Memory, Attribute::AlwaysInline, Attribute::InlineHint, Attribute::Hot,
        Attribute::Speculatable, Attribute::WillReturn, Attribute::NoSync, Attribute::NoFree,
        Attribute::NoRecurse, Attribute::NoCallback, Attribute::OptimizeNone, Attribute::AllocKind,
        Attribute::AllocSize}) {
    attributes.removeAttribute(kind);
  }
  attributes.addAttribute(Attribute::Cold).addAttribute(Attribute::NoInline);
  return attributes;
}

AttributeList passing_attributes(const Function& function) {
  LLVMContext& context = function.getContext();
  const auto kept = [&](AttributeSet all) {
    AttrBuilder some(context);
    for (const Attribute attribute : all) {
      if (!attribute.isEnumAttribute() && !attribute.isTypeAttribute() &&
          !attribute.isIntAttribute()) {
        continue;
      }
      switch (attribute.getKindAsEnum()) {
        case Attribute::ByVal:
        case Attribute::StructRet:
        case Attribute::InReg:
        case Attribute::ZExt:
        case Attribute::SExt:
        case Attribute::Alignment:
        case Attribute::StackAlignment:
        case Attribute::SwiftSelf:
        case Attribute::SwiftAsync:
          some.addAttribute(attribute);
          break;
        default:
          break;
      }
    }
    return AttributeSet::get(context, some);
  };
  const AttributeList all = function.getAttributes();
  std::vector<AttributeSet> parameters;
  for (unsigned i = 0; i < function.arg_size(); ++i)
    parameters.push_back(kept(all.getParamAttrs(i)));
  return AttributeList::get(context, AttributeSet(), kept(all.getRetAttrs()), parameters);
}

Function* make_cold(Function& of, FunctionType* type, const char* suffix) {
  Function* made = Function::Create(type, GlobalValue::InternalLinkage, of.getAddressSpace(),
                                    of.getName() + suffix, of.getParent());
  made->setAttributes(
      AttributeList::get(of.getContext(), AttributeList::FunctionIndex, cold_attributes(of)));
  made->setDSOLocal(true);
  // Among the cold code, and of its own where functions are: what nobody needs can
  // still be left out by the linker.
  made->setSectionPrefix("unlikely");
  made->setComdat(of.getComdat());
  if (DISubprogram* program = of.getSubprogram()) {
    DISubprogram* copy = MDNode::replaceWithDistinct(program->clone());
    copy->replaceRetainedNodes(MDTuple::get(of.getContext(), {}));
    made->setSubprogram(copy);
  }
  return made;
}

Value* address_in(IRBuilder<>& builder, GlobalVariable* variable) {
  return variable->isThreadLocal() ? builder.CreateThreadLocalAddress(variable)
                                   : static_cast<Value*>(variable);
}

CallInst* burst_begins(IRBuilder<>& builder, const Check& check) {
  Module& module = *builder.GetInsertBlock()->getModule();
  Type* pointer = builder.getPtrTy();
  const FunctionCallee begins = module.getOrInsertFunction(
      kBurstBegins, FunctionType::get(builder.getInt32Ty(), {pointer, pointer}, false));
  CallInst* answer = builder.CreateCall(begins, {address_in(builder, check.left), check.level});
  answer->setDoesNotThrow();
  return answer;
}

Function* make_entry_ask(Function& function, Function& twin, const Check& check,
                         const Places& places) {
  Ask ask(function, check, function.getFunctionType());
  Function* made = ask.made();
  made->setCallingConv(function.getCallingConv());
  made->setAttributes(passing_attributes(function).addFnAttributes(function.getContext(),
                                                                   cold_attributes(function)));
  const std::vector<Value*> arguments = arguments_of(*made);
  const auto end_with = [](IRBuilder<>& builder, CallInst* call) {
    if (call->getType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
  };
  Writer with(ask.with_burst(), ask.nowhere());
  if (places.all.empty()) {
    end_with(with, call_like(with, twin, function, arguments));
  } else {
    Writer first(&made->getEntryBlock(), ask.nowhere());
    first.SetInsertPoint(&made->getEntryBlock(), made->getEntryBlock().begin());
    AllocaInst* frame = first.CreateAlloca(ArrayType::get(first.getInt8Ty(), places.frame_size));
    frame->setAlignment(places.alignment);
    std::vector<Value*> all = {with.getInt32(0), frame};
    all.insert(all.end(), arguments.begin(), arguments.end());
    end_with(with, with.CreateCall(&twin, all));
  }
  Writer without(ask.without(), ask.nowhere());
  end_with(without, call_like(without, function, function, arguments));
  return made;
}

Function* make_place_ask(Function& function, Function& twin, const Check& check, unsigned number) {
  LLVMContext& context = function.getContext();
  Type* result = Type::getInt32Ty(context);
  Ask ask(function, check, FunctionType::get(result, {PointerType::getUnqual(context)}, false));
  ask.made()->setCallingConv(CallingConv::PreserveMost);
  Writer builder(ask.with_burst(), ask.nowhere());
  Value* frame = ask.made()->getArg(0);
  std::vector<Value*> all = {builder.getInt32(number), frame};
  for (const Argument& argument : function.args()) {
    all.push_back(PoisonValue::get(argument.getType()));
  }
  CallInst* call = builder.CreateCall(&twin, all);
  if (!call->getType()->isVoidTy()) builder.CreateStore(call, frame);
  builder.CreateRet(builder.getInt32(1));
  Writer other(ask.without(), ask.nowhere());
  other.CreateRet(other.getInt32(0));
  return ask.made();
}

}  // namespace plumb::pass
