#include "sampled_twin.h"

#include <optional>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
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
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "sampled_abi.h"
#include "sampled_ask.h"
#include "sampled_halves.h"
#include "sampled_labels.h"
#include "sampled_places.h"
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
      check_whole();
    } else {
      return_to_frame();
      leave_at_places();
      enter_at_places();
      check_function();
      repair_function();
    }
    return {&function_, twin_, places_.all.empty(), std::move(tracing_->unchecked_calls)};
  }

 private:
  // --- the tracing version

  // Where the versions cannot change over on the way, the tracing one is of the same
  // type; otherwise it takes a place and a frame besides.
  void copy_function() {
    const bool whole = places_.all.empty();
    std::vector<Type*> types = {int_, pointer_};
    for (const Argument& argument : function_.args()) types.push_back(argument.getType());
    twin_ = Function::Create(
        whole ? function_.getFunctionType() : FunctionType::get(int_, types, false),
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

  // Where the versions change over, variables are the function's in both: while the
  // tracing version runs, they may not share their memory by turns.
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
    Blocks heads;
    for (const Place& place : places_.all) heads.insert(cast<BasicBlock>(copies_[place.head]));
    make_halves(*twin_, heads, tables_, halves_);
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

  // In each round of an outermost loop the burst may be over; in the plain half it is.
  void leave_at_places() {
    for (unsigned number = 1; number <= places_.all.size(); ++number) {
      const Place& place = places_.all[number - 1];
      auto* body = cast<BasicBlock>(copies_[place.body]);
      BasicBlock* rest = SplitBlock(body, body->getFirstNonPHIIt());
      BasicBlock* leave = BasicBlock::Create(context_, "plumb.leave", twin_);
      body->getTerminator()->eraseFromParent();
      IRBuilder<> builder(body);
      Value* stays = tracing_->goes_on(builder, location_of(*rest->getFirstNonPHIIt()));
      builder.CreateCondBr(stays, rest, leave);
      leave_from(leave, number, [&](Value* value) { return static_cast<Value*>(copies_[value]); });
      if (!halves_.is_split()) continue;
      auto* plain = cast<BasicBlock>(halves_.plain[body]);
      SplitBlock(plain, plain->getFirstNonPHIIt());
      plain->getTerminator()->eraseFromParent();
      leave_from(plain, number,
                 [&](Value* value) { return static_cast<Value*>(halves_.plain[copies_[value]]); });
    }
  }

  template <typename Copy>
  void leave_from(BasicBlock* block, unsigned number, Copy copy_of) {
    IRBuilder<> builder(block);
    for (const Live& live : places_.all[number - 1].live) {
      if (isa<Argument>(live.value)) continue;  // unchanged
      builder.CreateStore(copy_of(live.value), at_offset(builder, twin_->getArg(1), live.offset));
    }
    builder.CreateRet(builder.getInt32(number));
  }

  void return_to_frame() {
    std::vector<ReturnInst*> returns;
    for (BasicBlock& block : *twin_) {
      if (auto* end = dyn_cast<ReturnInst>(block.getTerminator())) returns.push_back(end);
    }
    for (ReturnInst* old : returns) {
      IRBuilder<> builder(old);
      if (Value* value = old->getReturnValue()) builder.CreateStore(value, twin_->getArg(1));
      builder.CreateRet(builder.getInt32(0));
      old->eraseFromParent();
    }
  }

  void enter_at_places() {
    IRBuilder<> builder(choice_);
    for (const Live& variable : places_.variables) {
      auto* copy = cast<AllocaInst>(copies_[variable.value]);
      copy->replaceAllUsesWith(at_offset(builder, twin_->getArg(1), variable.offset));
      copy->eraseFromParent();
    }
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

  // A function that is traced from its entry to its end or not at all.
  void check_whole() {
    const auto check = entries_.find(&function_);
    if (check == entries_.end()) return;
    IRBuilder<> builder(count_down(after_variables(function_), check->second));
    Function* ask = make_whole_ask(function_, *twin_, check->second);
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

  void check_function() {
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
    // Loops first: their blocks are known by name.
    for (unsigned number = 1; number <= places_.all.size(); ++number) {
      const Place& place = places_.all[number - 1];
      if (place.checked) {
        place_check(place.head->getTerminator(), make_check(module_), number);
      }
    }
    if (const auto check = entries_.find(&function_); check != entries_.end()) {
      place_check(first, check->second, 0);
    }
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
    BasicBlock* ask = BasicBlock::Create(context_, "plumb.ask", &function_);
    block->getTerminator()->eraseFromParent();
    IRBuilder<> builder(block);
    Value* address = address_of(builder, check.left);
    Value* left = builder.CreateSub(builder.CreateLoad(int_, address), builder.getInt32(1));
    builder.CreateStore(left, address);
    MDNode* seldom = MDBuilder(context_).createBranchWeights(1, 1 << 20);
    builder.CreateCondBr(builder.CreateICmpSLT(left, builder.getInt32(0)), ask, rest, seldom);
    return ask;
  }

  // Before `at`: counts down, and changes over when the runtime says so.
  void place_check(Instruction* at, const Check& check, unsigned number) {
    IRBuilder<> builder(count_down(at, check));
    std::vector<Value*> arguments = {frame_};
    Function* ask = nullptr;
    if (number == 0) {
      for (Argument& argument : function_.args()) arguments.push_back(&argument);
      ask = make_entry_ask(function_, *twin_, check);
    } else {
      for (const Live& live : places_.all[number - 1].live) {
        builder.CreateStore(live.value, at_offset(builder, frame_, live.offset));
      }
      ask = make_place_ask(function_, *twin_, check, number);
    }
    CallInst* call = builder.CreateCall(ask, arguments);
    call->setDebugLoc(nowhere());
    call->setTailCallKind(CallInst::TCK_NoTail);
    if (function_.doesNotThrow()) call->setDoesNotThrow();
    SwitchInst* where = builder.CreateSwitch(call, over());
    for (unsigned target = 1; target <= places_.all.size(); ++target) {
      const Place& place = places_.all[target - 1];
      if (target == number) {
        where->addCase(builder.getInt32(target), land_within(place));
      } else if (number == 0 || is_contained(place.reached_from, number)) {
        where->addCase(builder.getInt32(target), land_before(place));
      }
    }
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

  Value* kept_in_frame(IRBuilder<>& builder, const Live& live) {
    return builder.CreateLoad(live.value->getType(), at_offset(builder, frame_, live.offset));
  }

  // Comes back to the loop that was left: one more latch.
  BasicBlock* land_within(const Place& place) {
    BasicBlock* block = BasicBlock::Create(context_, "plumb.land", &function_);
    IRBuilder<> builder(block);
    SmallPtrSet<PHINode*, 8> given;
    for (const Live& live : place.live) {
      auto* phi = dyn_cast<PHINode>(live.value);
      if (!phi || phi->getParent() != place.head) continue;  // did not change
      phi->addIncoming(kept_in_frame(builder, live), block);
      given.insert(phi);
    }
    builder.CreateBr(place.head);
    for (PHINode& phi : place.head->phis()) {
      if (!given.contains(&phi)) phi.addIncoming(PoisonValue::get(phi.getType()), block);
    }
    return block;
  }

  // Comes to a loop from elsewhere: before it, one block for all checks.
  BasicBlock* land_before(const Place& place) {
    BasicBlock*& block = before_landings_[place.before];
    if (block != nullptr) return block;
    block = BasicBlock::Create(context_, "plumb.land", &function_);
    IRBuilder<> builder(block);
    for (const Live& live : place.live) {
      if (isa<Argument>(live.value)) continue;
      auto* phi = dyn_cast<PHINode>(live.value);
      const bool heads = phi && phi->getParent() == place.head;
      landings_[live.value].emplace_back(block, kept_in_frame(builder, live),
                                         heads ? place.before : nullptr);
    }
    builder.CreateBr(place.before);
    return block;
  }

  struct Landing {
    Landing(BasicBlock* b, Value* v, BasicBlock* h) : block(b), value(v), before(h) {}
    BasicBlock* block;
    Value* value;
    BasicBlock* before;  // of a phi at the head: where it is merged
  };

  void repair_function() {
    // Phis at heads take what the landings bring, in the block before the loop.
    for (const Place& place : places_.all) {
      BasicBlock* landing_block = before_landings_.lookup(place.before);
      if (landing_block == nullptr) continue;
      std::vector<BasicBlock*> usual;
      for (BasicBlock* from : predecessors(place.before)) {
        if (from != landing_block) usual.push_back(from);
      }
      for (PHINode& phi : place.head->phis()) {
        Value* outside = phi.getIncomingValueForBlock(place.before);
        IRBuilder<> builder(place.before, place.before->begin());
        PHINode* merged = builder.CreatePHI(phi.getType(), usual.size() + 1);
        for (BasicBlock* from : usual) merged->addIncoming(outside, from);
        Value* brought = PoisonValue::get(phi.getType());
        for (const Landing& landing : landings_.lookup(&phi)) {
          if (landing.block == landing_block) brought = landing.value;
        }
        merged->addIncoming(brought, landing_block);
        phi.setIncomingValueForBlock(place.before, merged);
      }
    }
    for (auto& [value, landings] : landings_) {
      std::vector<Landing> others;
      for (const Landing& landing : landings) {
        // A phi of this head is merged already; of an earlier loop's it is a
        // value like any other.
        if (!landing.before) others.push_back(landing);
      }
      if (others.empty()) continue;
      auto* original = cast<Instruction>(value);
      SSAUpdater update;
      update.Initialize(original->getType(), original->getName());
      update.AddAvailableValue(original->getParent(), original);
      for (const Landing& landing : others) {
        update.AddAvailableValue(landing.block, landing.value);
      }
      std::vector<Use*> uses;
      for (Use& use : original->uses()) uses.push_back(&use);
      for (Use* use : uses) {
        auto* user = cast<Instruction>(use->getUser());
        if (!isa<PHINode>(user) && user->getParent() == original->getParent()) continue;
        update.RewriteUse(*use);
      }
    }
  }

  // --- small things

  Value* address_of(IRBuilder<>& builder, GlobalVariable* variable) {
    return variable->isThreadLocal() ? builder.CreateThreadLocalAddress(variable)
                                     : static_cast<Value*>(variable);
  }

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
  MapVector<Value*, std::vector<Landing>> landings_;
  MapVector<BasicBlock*, BasicBlock*> before_landings_;
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
