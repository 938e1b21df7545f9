#include "sampled_twin.h"

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
#include "sampled_choice.h"
#include "sampled_places.h"

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

FunctionCallee runtime(Module& module, const char* name, Type* result, ArrayRef<Type*> types) {
  return module.getOrInsertFunction(name, FunctionType::get(result, types, false));
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

  void make() {
    hoist_variables(function_);
    places_ = find_places(function_);
    copy_function();
    fix_labels();
    clean_copy();
    record_accesses();
    force_callees();
    if (places_.all.empty()) {
      check_whole();
      return;
    }
    leave_at_places();
    return_to_frame();
    enter_at_places();
    check_function();
    repair_function();
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
    returns_.assign(returns.begin(), returns.end());
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

  // A label's address is the function's in both, and a jump to one compares.
  void fix_labels() {
    for (BasicBlock& block : function_) {
      if (!block.hasAddressTaken()) continue;
      BlockAddress* copied = BlockAddress::get(twin_, cast<BasicBlock>(copies_[&block]));
      copied->replaceAllUsesWith(BlockAddress::get(&function_, &block));
    }
    std::vector<IndirectBrInst*> jumps;
    for (BasicBlock& block : *twin_) {
      if (auto* jump = dyn_cast<IndirectBrInst>(block.getTerminator())) jumps.push_back(jump);
    }
    DenseMap<BasicBlock*, BasicBlock*> originals;
    for (BasicBlock& block : function_) originals[cast<BasicBlock>(copies_[&block])] = &block;
    for (IndirectBrInst* jump : jumps) {
      BasicBlock* block = jump->getParent();
      SmallSetVector<BasicBlock*, 16> targets;
      for (BasicBlock* target : jump->successors()) {
        // One edge each from now on.
        if (!targets.insert(target)) target->removePredecessor(block, true);
      }
      Value* address = jump->getAddress();
      IRBuilder<> builder(jump);
      BasicBlock* at = block;
      for (std::size_t i = 0; i < targets.size(); ++i) {
        BasicBlock* target = targets[i];
        if (i + 1 == targets.size()) {
          builder.CreateBr(target);
        } else {
          BasicBlock* other = BasicBlock::Create(context_, "", twin_);
          Value* same = builder.CreateICmpEQ(
              address, BlockAddress::get(&function_, originals.lookup(target)));
          builder.CreateCondBr(same, target, other);
          if (at != block) target->replacePhiUsesWith(block, at);
          builder.SetInsertPoint(other);
          at = other;
          continue;
        }
        if (at != block) target->replacePhiUsesWith(block, at);
      }
      if (targets.empty()) builder.CreateUnreachable();
      jump->eraseFromParent();
    }
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

  void record_accesses() {
    FunctionCallee touch = runtime(module_, kTouch, Type::getVoidTy(context_), {pointer_});
    if (auto* declared = dyn_cast<Function>(touch.getCallee())) {
      declared->setDoesNotThrow();
      declared->setCallingConv(CallingConv::PreserveMost);
      // The way through lazy binding would not preserve all that.
      declared->addFnAttr(Attribute::NonLazyBind);
    }
    for (BasicBlock& block : *twin_) {
      SmallPtrSet<const Value*, 8> known;  // recorded in this block already
      std::vector<std::pair<Instruction*, Value*>> accesses;
      for (Instruction& instruction : block) {
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
      }
    }
  }

  // A burst goes on in the functions that are called, when they are of this module.
  void force_callees() {
    std::vector<std::pair<CallBase*, GlobalVariable*>> calls;
    for (Instruction& instruction : instructions(*twin_)) {
      auto* call = dyn_cast<CallBase>(&instruction);
      Function* callee = call ? call->getCalledFunction() : nullptr;
      const auto entry = callee ? entries_.find(callee) : entries_.end();
      if (entry != entries_.end()) calls.emplace_back(call, entry->second.left);
    }
    for (const auto& [call, left] : calls) {
      IRBuilder<> builder(call);
      Value* address = address_of(builder, left);
      // One more, since the check takes one off.
      Value* forced =
          builder.CreateOr(builder.CreateLoad(int_, address), builder.getInt32(kForced));
      builder.CreateStore(builder.CreateAdd(forced, builder.getInt32(1)), address);
    }
  }

  // In each round of an outermost loop the burst may be over.
  void leave_at_places() {
    const FunctionCallee goes_on = runtime(module_, kBurstGoesOn, int_, {});
    for (unsigned number = 1; number <= places_.all.size(); ++number) {
      const Place& place = places_.all[number - 1];
      auto* body = cast<BasicBlock>(copies_[place.body]);
      BasicBlock* rest = SplitBlock(body, body->getFirstNonPHIIt());
      BasicBlock* leave = BasicBlock::Create(context_, "plumb.leave", twin_);
      body->getTerminator()->eraseFromParent();
      IRBuilder<> builder(body);
      CallInst* call = builder.CreateCall(goes_on);
      call->setDebugLoc(location_of(*rest->getFirstNonPHIIt()));
      call->setDoesNotThrow();
      builder.CreateCondBr(builder.CreateIsNotNull(call), rest, leave);
      builder.SetInsertPoint(leave);
      for (const Live& live : place.live) {
        if (isa<Argument>(live.value)) continue;  // unchanged
        Value* copy = copies_[live.value];
        builder.CreateStore(copy, at_offset(builder, twin_->getArg(1), live.offset));
      }
      builder.CreateRet(builder.getInt32(number));
    }
  }

  void return_to_frame() {
    for (ReturnInst* old : returns_) {
      IRBuilder<> builder(old);
      if (Value* value = old->getReturnValue()) builder.CreateStore(value, twin_->getArg(1));
      builder.CreateRet(builder.getInt32(0));
      old->eraseFromParent();
    }
  }

  void enter_at_places() {
    BasicBlock* start = &twin_->getEntryBlock();
    BasicBlock* entry = BasicBlock::Create(context_, "plumb.entry", twin_, start);
    IRBuilder<> builder(entry);
    for (const Live& variable : places_.variables) {
      auto* copy = cast<AllocaInst>(copies_[variable.value]);
      copy->replaceAllUsesWith(at_offset(builder, twin_->getArg(1), variable.offset));
      copy->eraseFromParent();
    }
    SwitchInst* choice = builder.CreateSwitch(twin_->getArg(0), start, places_.all.size());

    // What is alive at a place gets a slot each: there are several ways to it now.
    MapVector<Value*, AllocaInst*> slots;
    for (const Place& place : places_.all) {
      for (const Live& live : place.live) {
        Value* copy = copies_[live.value];
        if (slots.count(copy) == 0) slots[copy] = make_slot(copy, choice);
      }
    }
    for (unsigned number = 1; number <= places_.all.size(); ++number) {
      const Place& place = places_.all[number - 1];
      BasicBlock* resume = BasicBlock::Create(context_, "plumb.resume", twin_);
      builder.SetInsertPoint(resume);
      for (const Live& live : place.live) {
        Value* copy = copies_[live.value];
        Value* kept = builder.CreateLoad(live.value->getType(),
                                         at_offset(builder, twin_->getArg(1), live.offset));
        builder.CreateStore(kept, slots[copy]);
      }
      builder.CreateBr(cast<BasicBlock>(copies_[place.body]));
      choice->addCase(builder.getInt32(number), resume);
    }
    std::vector<AllocaInst*> all;
    for (const auto& [value, slot] : slots) all.push_back(slot);
    DominatorTree dominators(*twin_);
    PromoteMemToReg(all, dominators);
  }

  AllocaInst* make_slot(Value* value, SwitchInst* choice) {
    if (auto* call = dyn_cast<InvokeInst>(value)) {
      SplitEdge(call->getParent(), call->getNormalDest());
    }
    IRBuilder<> builder(&*twin_->getEntryBlock().getFirstInsertionPt());
    AllocaInst* slot = builder.CreateAlloca(value->getType());
    std::vector<Use*> uses;
    for (Use& use : value->uses()) uses.push_back(&use);
    DenseMap<std::pair<PHINode*, BasicBlock*>, Value*> loaded;
    for (Use* use : uses) {
      auto* user = cast<Instruction>(use->getUser());
      if (auto* phi = dyn_cast<PHINode>(user)) {
        BasicBlock* from = phi->getIncomingBlock(*use);
        Value*& again = loaded[{phi, from}];
        if (!again) {
          again = IRBuilder<>(from->getTerminator()).CreateLoad(value->getType(), slot);
        }
        use->set(again);
      } else {
        use->set(IRBuilder<>(user).CreateLoad(value->getType(), slot));
      }
    }
    if (isa<Argument>(value)) {
      builder.SetInsertPoint(choice);
    } else if (auto* phi = dyn_cast<PHINode>(value)) {
      builder.SetInsertPoint(phi->getParent(), phi->getParent()->getFirstInsertionPt());
    } else if (auto* call = dyn_cast<InvokeInst>(value)) {
      BasicBlock* normal = call->getNormalDest();
      builder.SetInsertPoint(normal, normal->getFirstInsertionPt());
    } else {
      builder.SetInsertPoint(cast<Instruction>(value)->getNextNode());
    }
    builder.CreateStore(value, slot);
    return slot;
  }

  // --- the function itself

  Instruction* after_variables() {
    auto first = function_.getEntryBlock().begin();
    while (is_static_alloca(*first)) ++first;
    return &*first;
  }

  // A function that is traced from its entry to its end or not at all.
  void check_whole() {
    const auto check = entries_.find(&function_);
    if (check == entries_.end()) return;
    IRBuilder<> builder(count_down(after_variables(), check->second));
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
    Instruction* first = after_variables();
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
  std::vector<ReturnInst*> returns_;
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

void make_twin(Function& function, const EntryChecks& entries) { Twin(function, entries).make(); }

}  // namespace plumb::pass
