#include "sampled_twin.h"

#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"
#include "sampled_abi.h"
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
    leave_at_places();
    return_to_frame();
    enter_at_places();
    check_function();
    repair_function();
  }

 private:
  // --- the tracing version

  void copy_function() {
    std::vector<Type*> types = {int_, pointer_};
    for (const Argument& argument : function_.args()) types.push_back(argument.getType());
    twin_ =
        Function::Create(FunctionType::get(int_, types, false), GlobalValue::InternalLinkage,
                         function_.getAddressSpace(), function_.getName() + kTwinSuffix, &module_);
    for (Argument& argument : function_.args()) {
      copies_[&argument] = twin_->getArg(argument.getArgNo() + 2);
    }
    SmallVector<ReturnInst*, 8> returns;
    CloneFunctionInto(twin_, &function_, copies_, CloneFunctionChangeType::LocalChangesOnly,
                      returns);
    returns_.assign(returns.begin(), returns.end());
    // Only what holds for the function as such is kept.
    AttrBuilder attributes(context_, function_.getAttributes().getFnAttrs());
    for (const Attribute::AttrKind kind :
         {Attribute::Memory, Attribute::AlwaysInline, Attribute::InlineHint, Attribute::Hot,
          Attribute::Speculatable, Attribute::WillReturn, Attribute::NoSync, Attribute::NoFree,
          Attribute::NoCallback, Attribute::OptimizeNone, Attribute::AllocKind,
          Attribute::AllocSize}) {
      attributes.removeAttribute(kind);
    }
    attributes.addAttribute(Attribute::Cold).addAttribute(Attribute::NoInline);
    twin_->setAttributes(AttributeList::get(context_, AttributeList::FunctionIndex, attributes));
    twin_->setLinkage(GlobalValue::InternalLinkage);
    twin_->setVisibility(GlobalValue::DefaultVisibility);
    twin_->setUnnamedAddr(GlobalValue::UnnamedAddr::None);
    twin_->setDSOLocal(true);
    // Among the cold code, and of its own where functions are: what nobody needs can
    // still be left out by the linker.
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

  // Variables are the function's in both: where the tracing version runs, those of
  // the function may not share their memory by turns.
  void clean_copy() {
    std::vector<Instruction*> removed;
    const auto note_lifetimes = [&](Function& function) {
      for (Instruction& instruction : instructions(function)) {
        auto* note = dyn_cast<IntrinsicInst>(&instruction);
        if (note && note->isLifetimeStartOrEnd()) removed.push_back(note);
      }
    };
    note_lifetimes(*twin_);
    note_lifetimes(function_);
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
      copy->replaceAllUsesWith(builder.CreateLoad(
          copy->getType(), at_offset(builder, twin_->getArg(1), variable.offset)));
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

  void check_function() {
    BasicBlock* entry = &function_.getEntryBlock();
    auto first = entry->begin();
    while (is_static_alloca(*first)) ++first;
    if (places_.all.empty() && entries_.count(&function_) == 0) return;
    IRBuilder<> builder(entry, entry->begin());
    frame_ = builder.CreateAlloca(ArrayType::get(builder.getInt8Ty(), places_.frame_size));
    frame_->setAlignment(Align(16));
    // Loops first: their blocks are known by name.
    for (unsigned number = 1; number <= places_.all.size(); ++number) {
      const Place& place = places_.all[number - 1];
      if (place.checked) {
        place_check(place.head->getTerminator(), make_check(module_), number);
      }
    }
    if (const auto check = entries_.find(&function_); check != entries_.end()) {
      place_check(&*first, check->second, 0);
    }
    function_.removeFnAttr(Attribute::Memory);
    function_.removeFnAttr(Attribute::Speculatable);
  }

  // Before `at`: counts down, and changes over when the runtime says so.
  void place_check(Instruction* at, const Check& check, unsigned number) {
    BasicBlock* block = at->getParent();
    BasicBlock* rest = SplitBlock(block, at);
    BasicBlock* ask = BasicBlock::Create(context_, "plumb.ask", &function_);
    BasicBlock* change = BasicBlock::Create(context_, "plumb.change", &function_);
    block->getTerminator()->eraseFromParent();
    IRBuilder<> builder(block);
    Value* address = address_of(builder, check.left);
    Value* left = builder.CreateSub(builder.CreateLoad(int_, address), builder.getInt32(1));
    builder.CreateStore(left, address);
    MDNode* seldom = MDBuilder(context_).createBranchWeights(1, 1 << 20);
    builder.CreateCondBr(builder.CreateICmpSLT(left, builder.getInt32(0)), ask, rest, seldom);

    builder.SetInsertPoint(ask);
    CallInst* begins =
        builder.CreateCall(runtime(module_, kBurstBegins, int_, {pointer_, pointer_}),
                           {address_of(builder, check.left), check.level});
    begins->setDoesNotThrow();
    begins->setDebugLoc(nowhere());
    builder.CreateCondBr(builder.CreateIsNotNull(begins), change, rest);

    builder.SetInsertPoint(change);
    std::vector<Value*> arguments = {builder.getInt32(number), frame_};
    for (Argument& argument : function_.args()) {
      arguments.push_back(number == 0 ? static_cast<Value*>(&argument)
                                      : PoisonValue::get(argument.getType()));
    }
    for (const Live& variable : places_.variables) {
      builder.CreateStore(variable.value, at_offset(builder, frame_, variable.offset));
    }
    if (number != 0) {
      for (const Live& live : places_.all[number - 1].live) {
        builder.CreateStore(live.value, at_offset(builder, frame_, live.offset));
      }
    }
    CallInst* call = builder.CreateCall(twin_, arguments);
    call->setDebugLoc(nowhere());
    call->setTailCallKind(CallInst::TCK_NoTail);
    if (function_.doesNotThrow()) call->setDoesNotThrow();

    BasicBlock* over = BasicBlock::Create(context_, "plumb.over", &function_);
    SwitchInst* where = builder.CreateSwitch(call, over);
    builder.SetInsertPoint(over);
    Type* result = function_.getReturnType();
    if (result->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(builder.CreateLoad(result, frame_));
    for (unsigned target = 1; target <= places_.all.size(); ++target) {
      const Place& place = places_.all[target - 1];
      const bool later = number == 0 || is_contained(place.reached_from, number);
      if (target != number && !later) continue;
      where->addCase(builder.getInt32(target), land(place, target == number));
    }
  }

  // Comes back: from within the loop as one more latch, from outside before it.
  BasicBlock* land(const Place& place, bool within) {
    BasicBlock* block = BasicBlock::Create(context_, "plumb.land", &function_);
    BasicBlock* next = within ? place.head : place.before;
    IRBuilder<> builder(block);
    SmallPtrSet<PHINode*, 8> given;
    for (const Live& live : place.live) {
      if (isa<Argument>(live.value)) continue;
      auto* phi = dyn_cast<PHINode>(live.value);
      const bool heads = phi && phi->getParent() == place.head;
      if (within && !heads) continue;  // did not change
      Value* kept =
          builder.CreateLoad(live.value->getType(), at_offset(builder, frame_, live.offset));
      if (within) {
        phi->addIncoming(kept, block);
        given.insert(phi);
      } else {
        landings_[live.value].emplace_back(block, kept, heads ? place.before : nullptr);
      }
    }
    builder.CreateBr(next);
    if (within) {
      for (PHINode& phi : place.head->phis()) {
        if (!given.contains(&phi)) phi.addIncoming(PoisonValue::get(phi.getType()), block);
      }
    } else {
      before_landings_[place.before].push_back(block);
    }
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
      const auto landings = before_landings_.find(place.before);
      if (landings == before_landings_.end()) continue;
      std::vector<BasicBlock*> usual;
      for (BasicBlock* from : predecessors(place.before)) {
        if (!is_contained(landings->second, from)) usual.push_back(from);
      }
      for (PHINode& phi : place.head->phis()) {
        Value* outside = phi.getIncomingValueForBlock(place.before);
        IRBuilder<> builder(place.before, place.before->begin());
        PHINode* merged = builder.CreatePHI(phi.getType(), usual.size() + landings->second.size());
        for (BasicBlock* from : usual) merged->addIncoming(outside, from);
        for (BasicBlock* from : landings->second) {
          Value* brought = PoisonValue::get(phi.getType());
          for (const Landing& landing : landings_.lookup(&phi)) {
            if (landing.block == from) brought = landing.value;
          }
          merged->addIncoming(brought, from);
        }
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
  MapVector<BasicBlock*, std::vector<BasicBlock*>> before_landings_;
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
