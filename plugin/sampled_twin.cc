#include "sampled_twin.h"

#include <optional>
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#include "sampled_abi.h"
#include "sampled_ask.h"
#include "sampled_halves.h"
#include "sampled_labels.h"
#include "sampled_places.h"
#include "sampled_slots.h"
#include "sampled_tracing.h"

using namespace llvm;

namespace plumb::pass {

namespace {

bool is_static_alloca(const Instruction& instruction) {
  const auto* variable = dyn_cast<AllocaInst>(&instruction);
  return variable && isa<ConstantInt>(variable->getArraySize());
}

void hoist_variables(Function& function) {
  BasicBlock& entry = function.getEntryBlock();
  std::vector<Instruction*> variables;
  for (Instruction& instruction : entry) {
    if (is_static_alloca(instruction)) variables.push_back(&instruction);
  }
  for (auto at = variables.rbegin(); at != variables.rend(); ++at) {
    (*at)->moveBefore(entry, entry.getFirstInsertionPt());
  }
}

Value* at_offset(IRBuilder<>& builder, Value* frame, std::uint64_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), frame, offset);
}

// Everything that one function needs.
class Twin {
 public:
  Twin(Function& function, const EntryChecks& entries)
      : function_(function),
        entries_(entries),
        module_(*function.getParent()),
        context_(function.getContext()),
        int_(Type::getInt32Ty(context_)),
        pointer_(PointerType::getUnqual(context_)) {}

  Version make() {
    hoist_variables(function_);
    places_ = find_places(function_);
    has_tables_ = find_label_tables(function_, tables_);
    copy_function();
    fix_labels();
    clean_copy();
    split_copy();
    if (places_.all.empty()) {
      finish_whole();
    } else {
      enter_at_places();
      check_places();
    }
    check_entry();
    return {&function_, twin_, places_.all.empty(), std::move(tracing_->unchecked_calls)};
  }

 private:
  // --- the tracing version

  // Where one cannot change over on the way, the tracing version is of the same type;
  // otherwise it takes a place and a frame besides.
  void copy_function() {
    const bool whole = places_.all.empty();
    std::vector<Type*> types = {int_, pointer_};
    for (const Argument& argument : function_.args()) types.push_back(argument.getType());
    twin_ = Function::Create(whole ? function_.getFunctionType()
                                   : FunctionType::get(function_.getReturnType(), types, false),
                             GlobalValue::InternalLinkage, function_.getAddressSpace(),
                             function_.getName() + kTwinSuffix, &module_);
    for (Argument& argument : function_.args()) {
      copies_[&argument] = twin_->getArg(argument.getArgNo() + (whole ? 0 : 2));
    }
    SmallVector<ReturnInst*, 8> returns;
    CloneFunctionInto(twin_, &function_, copies_, CloneFunctionChangeType::LocalChangesOnly,
                      returns);
    // Only what holds for the function as such is kept.
    twin_->setAttributes((whole ? passing_attributes(function_) : AttributeList())
                             .addFnAttributes(context_, cold_attributes(function_)));
    twin_->setCallingConv(whole ? function_.getCallingConv() : CallingConv::C);
    twin_->setLinkage(GlobalValue::InternalLinkage);
    twin_->setVisibility(GlobalValue::DefaultVisibility);
    twin_->setUnnamedAddr(GlobalValue::UnnamedAddr::None);
    twin_->setDSOLocal(true);
    twin_->setSectionPrefix("unlikely");
    if (twin_->hasPrefixData()) twin_->setPrefixData(nullptr);
    if (twin_->hasPrologueData()) twin_->setPrologueData(nullptr);
    twin_->setComdat(function_.getComdat());
  }

  // The addresses of labels in the copy.
  void fix_labels() {
    if (!has_tables_) {
      compare_labels(function_, *twin_, copies_);
      return;
    }
    Blocks all;
    for (BasicBlock& block : *twin_) all.insert(&block);
    tables_ = copy_label_tables(tables_, function_, *twin_, all, copies_);
  }

  // Where one changes over, variables stay where they are: in neither version may they
  // share their memory by turns.
  void clean_copy() {
    std::vector<Instruction*> removed;
    const auto note_lifetimes = [&](Function& function) {
      for (Instruction& instruction : instructions(function)) {
        auto* note = dyn_cast<IntrinsicInst>(&instruction);
        if (note && note->isLifetimeStartOrEnd()) removed.push_back(note);
      }
    };
    if (!places_.all.empty()) {
      note_lifetimes(*twin_);
      note_lifetimes(function_);
    }
    for (Instruction& instruction : instructions(*twin_)) {
      instruction.dropDbgRecords();
      if (isa<DbgInfoIntrinsic>(instruction)) removed.push_back(&instruction);
    }
    for (Instruction* instruction : removed) instruction->eraseFromParent();
  }

  // The plain half besides; then everything is in its place.
  void split_copy() {
    make_halves(*twin_, tables_, halves_);
    Instruction* first = nullptr;
    if (places_.all.empty()) {
      first = after_variables(*twin_);
    } else {
      BasicBlock* start = &twin_->getEntryBlock();
      BasicBlock* entry = BasicBlock::Create(context_, "plumb.entry", twin_, start);
      first = choice_ = SwitchInst::Create(twin_->getArg(0), start, places_.all.size(), entry);
    }
    tracing_.emplace(*twin_, halves_, entries_);
    tracing_->begin(first);
    tracing_->record_accesses();
    tracing_->follow_calls();
    tracing_->cross_over();
  }

  void enter_at_places() {
    IRBuilder<> builder(choice_);
    for (const Live& variable : places_.variables) {
      auto* copy = cast<AllocaInst>(copies_[variable.value]);
      copy->replaceAllUsesWith(at_offset(builder, twin_->getArg(1), variable.offset));
      copy->eraseFromParent();
    }
    for (const Place& place : places_.all) check_plain(place);
    // What is alive at a place gets a slot each: there are several ways to it now.
    Slots slots(*twin_, halves_);
    slots.make_for_halves();
    for (const Place& place : places_.all) {
      for (const Live& live : place.live) slots.of(copies_[live.value]);
    }
    for (unsigned number = 1; number <= places_.all.size(); ++number) {
      const Place& place = places_.all[number - 1];
      BasicBlock* resume = BasicBlock::Create(context_, "plumb.resume", twin_);
      builder.SetInsertPoint(resume);
      for (const Live& live : place.live) {
        Value* kept = builder.CreateLoad(live.value->getType(),
                                         at_offset(builder, twin_->getArg(1), live.offset));
        builder.CreateStore(kept, slots.of(copies_[live.value]));
      }
      builder.CreateBr(cast<BasicBlock>(copies_[place.body]));
      choice_->addCase(builder.getInt32(number), resume);
    }
    slots.promote();
    tracing_->expand_records();
  }

  // Who goes on in the plain half for long may come into a burst again.
  void check_plain(const Place& place) {
    auto* traced = cast<BasicBlock>(copies_[place.body]);
    const auto* known = halves_.copies.find(traced);
    if (known == halves_.copies.end()) return;
    auto* plain = cast<BasicBlock>(known->second.front());  // it is in no other loop
    Instruction* first = &*plain->getFirstNonPHIIt();
    IRBuilder<> builder(count_down(first, place.check));
    CallInst* begins = burst_begins(builder, place.check);
    begins->setDebugLoc(location_of(*first));
    builder.CreateCondBr(builder.CreateIsNotNull(begins), traced, first->getParent());
  }

  void finish_whole() {
    Slots slots(*twin_, halves_);
    slots.make_for_halves();
    slots.promote();
    tracing_->expand_records();
  }

  // --- the function itself

  static Instruction* after_variables(Function& function) {
    auto first = function.getEntryBlock().begin();
    while (is_static_alloca(*first)) ++first;
    return &*first;
  }

  // At the entry: whoever changes over there ends as the other version does.
  void check_entry() {
    const auto check = entries_.find(&function_);
    if (check == entries_.end()) return;
    IRBuilder<> builder(count_down(after_variables(function_), check->second));
    Function* ask = make_entry_ask(function_, *twin_, check->second, places_);
    std::vector<Value*> arguments;
    bool in_memory = false;
    for (Argument& argument : function_.args()) {
      arguments.push_back(&argument);
      in_memory = in_memory || argument.hasByValAttr();
    }
    CallInst* call = builder.CreateCall(ask, arguments);
    call->setCallingConv(function_.getCallingConv());
    call->setAttributes(passing_attributes(function_));
    call->setDebugLoc(nowhere());
    // Nothing of this function's stays behind.
    call->setTailCallKind(in_memory ? CallInst::TCK_NoTail : CallInst::TCK_MustTail);
    if (call->getType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
    loosen();
  }

  void check_places() {
    Instruction* first = after_variables(function_);
    BasicBlock* entry = &function_.getEntryBlock();
    IRBuilder<> builder(entry, entry->begin());
    frame_ = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), places_.frame_size));
    frame_->setAlignment(places_.alignment);
    builder.SetInsertPoint(first);  // what is there now goes
    DIBuilder notes(module_, false);
    for (const Live& variable : places_.variables) {
      auto* old = cast<AllocaInst>(variable.value);
      replaceDbgDeclare(old, frame_, notes, DIExpression::ApplyOffset,
                        static_cast<int>(variable.offset));
      old->replaceAllUsesWith(at_offset(builder, frame_, variable.offset));
      old->eraseFromParent();
    }
    for (unsigned number = 1; number <= places_.all.size(); ++number) place_check(number);
    loosen();
  }

  // It may now do whatever the runtime does.
  void loosen() {
    function_.removeFnAttr(Attribute::Memory);
    function_.removeFnAttr(Attribute::Speculatable);
    function_.removeFnAttr(Attribute::NoRecurse);
  }

  // Before `at`: counts down; the block that is returned is where it has run out.
  BasicBlock* count_down(Instruction* at, const Check& check) {
    BasicBlock* block = at->getParent();
    BasicBlock* rest = SplitBlock(block, at);
    BasicBlock* ask = BasicBlock::Create(context_, "plumb.ask", block->getParent());
    block->getTerminator()->eraseFromParent();
    IRBuilder<> builder(block);
    Value* address = address_in(builder, check.left);
    Value* left = builder.CreateSub(builder.CreateLoad(int_, address), builder.getInt32(1));
    builder.CreateStore(left, address);
    MDNode* seldom = MDBuilder(context_).createBranchWeights(1, 1 << 20);
    builder.CreateCondBr(builder.CreateICmpSLT(left, builder.getInt32(0)), ask, rest, seldom);
    return ask;
  }

  // At the head of a loop: counts down, and changes over for good when the runtime says
  // so. Otherwise all is as it was, in the registers, too.
  void place_check(unsigned number) {
    const Place& place = places_.all[number - 1];
    Instruction* at = place.head->getTerminator();
    IRBuilder<> builder(count_down(at, place.check));
    for (const Live& live : place.live) {
      builder.CreateStore(live.value, at_offset(builder, frame_, live.offset));
    }
    Function* ask = make_place_ask(function_, *twin_, place.check, number);
    CallInst* call = builder.CreateCall(ask, {frame_});
    call->setCallingConv(ask->getCallingConv());
    call->setDebugLoc(nowhere());
    call->setTailCallKind(CallInst::TCK_NoTail);
    if (function_.doesNotThrow()) call->setDoesNotThrow();
    builder.CreateCondBr(builder.CreateIsNotNull(call), over(), at->getParent());
  }

  // The tracing version came to the end; one block for all checks.
  BasicBlock* over() {
    if (over_ != nullptr) return over_;
    over_ = BasicBlock::Create(context_, "plumb.over", &function_);
    IRBuilder<> builder(over_);
    Type* result = function_.getReturnType();
    if (result->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(builder.CreateLoad(result, frame_));
    return over_;
  }

  // --- small things

  // Line 0 marks frames that are not in the source.
  DebugLoc nowhere() {
    DISubprogram* program = function_.getSubprogram();
    return program ? DebugLoc(DILocation::get(context_, 0, 0, program)) : DebugLoc();
  }
  DebugLoc location_of(const Instruction& instruction) {
    if (instruction.getDebugLoc() || !twin_->getSubprogram()) return instruction.getDebugLoc();
    return DILocation::get(context_, 0, 0, twin_->getSubprogram());
  }

  Function& function_;
  const EntryChecks& entries_;
  Module& module_;
  LLVMContext& context_;
  Type* int_;
  PointerType* pointer_;
  Places places_;
  Function* twin_ = nullptr;
  AllocaInst* frame_ = nullptr;
  ValueToValueMapTy copies_;
  LabelTables tables_;  // of the copy, once there is one
  bool has_tables_ = false;
  Halves halves_;
  std::optional<Tracing> tracing_;
  SwitchInst* choice_ = nullptr;
  BasicBlock* over_ = nullptr;
};

}  // namespace

Check make_check(Module& module) {
  LLVMContext& context = module.getContext();
  // In a shared library, thread-local counts would need room that a program may
  // not have left.
  const bool shared =
      module.getPICLevel() != PICLevel::NotPIC && module.getPIELevel() == PIELevel::Default;
  const auto make = [&](Type* type, bool per_thread, const char* name) {
    return new GlobalVariable(
        module, type, false, GlobalValue::PrivateLinkage, ConstantInt::get(type, 0), name, nullptr,
        per_thread ? GlobalValue::LocalExecTLSModel : GlobalValue::NotThreadLocal);
  };
  return {make(Type::getInt32Ty(context), !shared, "plumb.left"),
          make(Type::getInt8Ty(context), false, "plumb.level")};
}

Version make_twin(Function& function, const EntryChecks& entries) {
  return Twin(function, entries).make();
}

void call_versions(ArrayRef<Version> versions, const EntryChecks& entries) {
  DenseMap<Function*, Function*> whole;
  for (const Version& version : versions) {
    if (version.is_whole && !entries.contains(version.function)) {
      whole[version.function] = version.traced;
    }
  }
  for (const Version& version : versions) {
    for (const WeakTrackingVH& handle : version.unchecked_calls) {
      auto* call = dyn_cast_or_null<CallBase>(static_cast<Value*>(handle));
      Function* callee = call ? call->getCalledFunction() : nullptr;
      Function* traced = callee ? whole.lookup(callee) : nullptr;
      if (!traced || call->getFunctionType() != traced->getFunctionType()) continue;
      call->setCalledFunction(traced);
      call->removeFnAttr(Attribute::Memory);
    }
  }
  for (const auto& [function, traced] : whole) {
    if (traced->use_empty()) traced->eraseFromParent();
  }
}

}  // namespace plumb::pass
