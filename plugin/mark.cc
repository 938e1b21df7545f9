#include "mark.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "slots.h"
#include "ways_out.h"

using namespace llvm;

namespace plumb::pass {

namespace {

class Marking {
 public:
  Marking(Function& function, Sites& sites)
      : function_(function),
        module_(*function.getParent()),
        layout_(function.getDataLayout()),
        sites_(sites),
        names_(function),
        slots_(slots_of(function, names_)),
        pointer_(PointerType::getUnqual(function.getContext())),
        word_(Type::getInt64Ty(function.getContext())) {}

  bool run() {
    collect();
    for (auto& [place, slot] : slots_) begin_scope(slot);
    for (auto& [place, slot] : slots_) end_scope(slot);
    for (StoreInst* store : stores_) mark_store(*store);
    for (AnyMemIntrinsic* copy : copies_) mark_copy(*copy);
    for (CallBase* call : calls_) mark_call(*call);
    return changed_;
  }

 private:
  void collect() {
    for (Instruction& instruction : instructions(function_)) {
      if (auto* store = dyn_cast<StoreInst>(&instruction)) {
        stores_.push_back(store);
      } else if (auto* copy = dyn_cast<AnyMemIntrinsic>(&instruction)) {
        copies_.push_back(copy);
      } else if (auto* call = dyn_cast<CallBase>(&instruction);
                 call && !isa<IntrinsicInst>(call) && !call->isInlineAsm()) {
        calls_.push_back(call);
      }
    }
  }

  Site site_at(const DILocation* location, Cause cause) const {
    Site site;
    site.spots.push_back(spot_of(location, function_));
    site.cause = cause;
    return site;
  }

  void mark(IRBuilder<>& builder, Value* old, Value* place) {
    if (!old->getType()->isPointerTy()) old = builder.CreateIntToPtr(old, pointer_);
    Function* annotation =
        Intrinsic::getDeclaration(&module_, Intrinsic::var_annotation, {pointer_, pointer_});
    CallInst* call = builder.CreateCall(
        annotation, {old, place, ConstantPointerNull::get(pointer_),
                     ConstantInt::get(Type::getInt32Ty(function_.getContext()), 0),
                     ConstantPointerNull::get(pointer_)});
    for (unsigned i = 0; i < 2; ++i) {
      call->addParamAttr(i, Attribute::NoCapture);
      call->addParamAttr(i, Attribute::ReadNone);
    }
    changed_ = true;
  }

  Value* field(IRBuilder<>& builder, Value* base, std::uint64_t offset) {
    return offset == 0 ? base
                       : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  }

  void set_null(IRBuilder<>& builder, const Slot& slot) {
    for (const std::uint64_t offset : slot.pointers) {
      builder.CreateAlignedStore(ConstantPointerNull::get(pointer_),
                                 field(builder, slot.place, offset), MaybeAlign(1));
    }
    changed_ = true;
  }

  void begin_scope(Slot& slot) {
    if (slot.parameter && !slot.reassigned) return;
    for (IntrinsicInst* start : slot.starts) {
      IRBuilder<> builder(start->getNextNode());
      set_null(builder, slot);
    }
    if (!slot.starts.empty() || slot.parameter) return;
    IRBuilder<> builder(&*function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    set_null(builder, slot);
  }

  void end_scope(Slot& slot) {
    if (slot.parameter && !slot.reassigned) return;
    for (IntrinsicInst* end : slot.ends) leave_slot(slot, end);
    if (!slot.ends.empty()) return;
    for (BasicBlock& block : function_) {
      if (isa<ReturnInst>(block.getTerminator())) leave_slot(slot, block.getTerminator());
    }
  }

  // The slot's references go right before `at`.
  void leave_slot(const Slot& slot, Instruction* at) {
    Named variable;
    if (slot.variable) variable = names_.object_at(slot.place);
    const std::vector<const DILocation*> places = ways_out_.places(*at);
    const bool thrown = ways_out_.is_unwinding(*at->getParent());
    IRBuilder<> builder(at);
    builder.SetCurrentDebugLocation(at->getDebugLoc());
    for (const std::uint64_t offset : slot.pointers) {
      std::vector<Site> row;
      for (const DILocation* place : places) {
        Site site = site_at(place, thrown ? Cause::escaped_throw : Cause::scope_end);
        if (slot.variable) {
          const Named named = names_.part_of(variable, offset);
          site.holder = named.expression();
          site.type = Names::spelling(named.type);
          site.storage = variable.storage;
        } else {
          site.storage = Storage::temporary;
        }
        row.push_back(std::move(site));
      }
      Value* site = sites_.make(module_, std::move(row));
      if (places.size() > 1) {
        Value* way = ways_out_.way(builder, *at);
        site = builder.CreateInBoundsGEP(word_, site, way);
      }
      mark(builder,
           builder.CreateAlignedLoad(pointer_, field(builder, slot.place, offset), MaybeAlign(1)),
           site);
    }
  }

  // Memory whose old contents we know to be pointers or null.
  bool is_followed(Value* address) const {
    const Value* base = getUnderlyingObject(address, 0);
    if (auto* place = dyn_cast<AllocaInst>(base)) {
      const auto slot = slots_.find(place);
      return slot != slots_.end() && !(slot->second.parameter && !slot->second.reassigned);
    }
    // What a caller will get as a result has no contents yet.
    if (auto* argument = dyn_cast<Argument>(base)) return !argument->hasStructRetAttr();
    return true;
  }

  // A number in a place where a pointer can be as well.
  bool hides_pointer(const StoreInst& store, const Named& named) const {
    if (layout_.getTypeStoreSize(store.getValueOperand()->getType()) != 8) return false;
    if (Names::is_pointer_number(named.type)) return true;
    std::vector<Member> members;
    Names::pointers_in(named.type, 0, "", members, kMaxPointers);
    return any_of(members, [](const Member& member) { return member.offset == 0; });
  }

  // p = p + 1 still refers to what it did.
  static bool moves_within(const StoreInst& store) {
    auto* gep = dyn_cast<GEPOperator>(store.getValueOperand());
    while (gep && isa<GEPOperator>(gep->getPointerOperand())) {
      gep = cast<GEPOperator>(gep->getPointerOperand());
    }
    auto* load = gep ? dyn_cast<LoadInst>(gep->getPointerOperand()) : nullptr;
    return load && load->getPointerOperand() == store.getPointerOperand();
  }

  static bool is_vtable(const Value* value) {
    auto* global = dyn_cast<GlobalVariable>(value->stripInBoundsOffsets());
    return global && global->getName().starts_with("_ZT");
  }

  void mark_store(StoreInst& store) {
    Value* value = store.getValueOperand();
    Value* address = store.getPointerOperand();
    const bool pointer = value->getType()->isPointerTy();
    if (!pointer && !value->getType()->isIntegerTy(64)) return;
    if (!is_followed(address) || moves_within(store) || is_vtable(value)) return;
    auto* place = dyn_cast<AllocaInst>(address);
    if (place && isa<Argument>(value) && names_.variable(place)) return;  // the parameter arrives
    Named named = names_.object_at(address);
    if (!pointer && !hides_pointer(store, named)) return;
    if (named.known()) named = names_.part_of(named, 0);

    IRBuilder<> builder(&store);
    LoadInst* old = builder.CreateAlignedLoad(pointer_, address, store.getAlign());
    if (store.isAtomic()) old->setAtomic(AtomicOrdering::Monotonic, store.getSyncScopeID());
    Site site = site_at(store.getDebugLoc().get(), Cause::overwritten);
    site.holder = named.known() ? named.expression() : "";
    site.type = Names::spelling(named.type);
    site.storage = named.storage;
    builder.SetInsertPoint(store.getNextNode());
    builder.SetCurrentDebugLocation(store.getDebugLoc());
    mark(builder, old, sites_.make(module_, {std::move(site)}));
  }

  void mark_copy(AnyMemIntrinsic& copy) {
    Value* to = copy.getRawDest();
    auto* length = dyn_cast<ConstantInt>(copy.getLength());
    if ((length && length->getZExtValue() < 8) || !is_followed(to)) return;
    const std::uint64_t size = length ? length->getZExtValue() : 0;
    const Named named = names_.object_at(to);
    std::vector<Member> members;
    bool exact = false;
    const Value* base = getUnderlyingObject(to, 0);
    if (auto* place = dyn_cast<AllocaInst>(base); place && place == to && length) {
      for (const std::uint64_t offset : slots_.find(place)->second.pointers) {
        if (offset + 8 <= size) members.push_back({offset, ""});
      }
      exact = true;
    } else if (named.type) {
      exact = Names::pointers_in(named.type, 0, "", members, kMaxPointers) && length &&
              size * 8 <= Names::stripped(named.type)->getSizeInBits();
      if (exact)
        erase_if(members, [size](const Member& member) { return member.offset + 8 > size; });
      // Numbers and text: nothing to lose.
      if (members.empty() && Names::stripped(named.type) && !isa<AllocaInst>(base) &&
          Names::stripped(named.type)->getSizeInBits() != 0) {
        return;
      }
    }
    if (exact && members.size() <= 8) {
      copy_fields(copy, named, members);
      return;
    }
    if (isa<AllocaInst>(base)) return;
    Site site = site_at(copy.getDebugLoc().get(), Cause::overwritten);
    shape_of(site, named);
    site.type.clear();
    IRBuilder<> builder(&copy);
    builder.CreateCall(
        module_.getOrInsertFunction(kDropRange, Type::getVoidTy(function_.getContext()), pointer_,
                                    word_, pointer_),
        {to, builder.CreateZExtOrTrunc(copy.getLength(), word_),
         sites_.make(module_, {std::move(site)})});
    changed_ = true;
  }

  void copy_fields(AnyMemIntrinsic& copy, const Named& named, const std::vector<Member>& members) {
    IRBuilder<> before(&copy);
    IRBuilder<> behind(copy.getNextNode());
    behind.SetCurrentDebugLocation(copy.getDebugLoc());
    std::vector<Value*> old;
    for (const Member& member : members) {
      old.push_back(before.CreateAlignedLoad(
          pointer_, field(before, copy.getRawDest(), member.offset), MaybeAlign(1)));
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      Site site = site_at(copy.getDebugLoc().get(), Cause::overwritten);
      if (named.known()) {
        const Named part = names_.part_of(named, members[i].offset);
        site.holder = part.expression();
        site.type = Names::spelling(part.type);
        site.storage = part.storage;
      }
      mark(behind, old[i], sites_.make(module_, {std::move(site)}));
    }
  }

  // What the memory at a named object holds, so that the runtime can name a part.
  void shape_of(Site& site, const Named& object) {
    if (!object.known()) return;
    site.storage = Storage::heap;
    site.holder = object.text;
    std::vector<Member> members;
    DIType* type = Names::stripped(object.type);
    if (!type || !Names::pointers_in(type, 0, "", members, kMaxPointers)) return;
    site.stride = type->getSizeInBits() / 8;
    if (members.size() == 1 && members[0].offset == 0 && members[0].name.empty()) return;
    for (Member& member : members) {
      const bool dotted = StringRef(member.name).starts_with(".");
      if (object.through_pointer && dotted) member.name = "->" + member.name.substr(1);
    }
    site.members = std::move(members);
  }

  Named freed_object(Value* block) {
    Named pointer = names_.pointer_of(block);
    if (!pointer.known()) return {};
    return {pointer.through_pointer ? "(*" + pointer.text + ")" : pointer.text,
            Names::pointee(pointer.type), Storage::heap, true};
  }

  void mark_call(CallBase& call) {
    Function* callee = call.getCalledFunction();
    const StringRef name = callee && !callee->hasLocalLinkage() ? callee->getName() : "";
    if (name == "free" && call.arg_size() == 1 && isa<CallInst>(call)) {
      mark_free(call);
      return;
    }
    mark_result(call);
  }

  void mark_free(CallBase& call) {
    Site site = site_at(call.getDebugLoc().get(), Cause::holder_freed);
    shape_of(site, freed_object(call.getArgOperand(0)));
    IRBuilder<> builder(&call);
    CallInst* release =
        builder.CreateCall(module_.getOrInsertFunction(
                               kFree, Type::getVoidTy(function_.getContext()), pointer_, pointer_),
                           {call.getArgOperand(0), sites_.make(module_, {std::move(site)})});
    release->setDoesNotThrow();
    release->setDebugLoc(call.getDebugLoc());
    release->setTailCallKind(CallInst::TCK_NoTail);  // its caller is the place
    call.eraseFromParent();
    changed_ = true;
  }

  // A result that nobody keeps goes after its last use.
  void mark_result(CallBase& call) {
    if (!call.getType()->isPointerTy() || isa<InvokeInst>(call)) return;
    if (call.hasRetAttr(Attribute::NoAlias)) {
      if (auto* plain = dyn_cast<CallInst>(&call)) plain->setTailCallKind(CallInst::TCK_NoTail);
    }
    if (call.getReturnedArgOperand()) return;
    Instruction* last = &call;
    for (User* user : call.users()) {
      auto* instruction = cast<Instruction>(user);
      const bool passing =
          isa<CallInst>(instruction) || isa<ICmpInst>(instruction) ||
          (isa<LoadInst>(instruction)) ||
          (isa<StoreInst>(instruction) && cast<StoreInst>(instruction)->getValueOperand() != &call);
      if (!passing || instruction->getParent() != call.getParent()) return;
      if (last->comesBefore(instruction)) last = instruction;
    }
    const bool unused = last == &call;
    Site site = site_at((unused ? call : *last).getDebugLoc().get(), Cause::discarded);
    site.storage = Storage::temporary;
    IRBuilder<> builder(last->getNextNode());
    builder.SetCurrentDebugLocation(last->getDebugLoc());
    mark(builder, &call, sites_.make(module_, {std::move(site)}));
  }

  Function& function_;
  Module& module_;
  const DataLayout& layout_;
  Sites& sites_;
  Names names_;
  DenseMap<const AllocaInst*, Slot> slots_;
  WaysOut ways_out_;
  PointerType* pointer_;
  Type* word_;
  std::vector<StoreInst*> stores_;
  std::vector<AnyMemIntrinsic*> copies_;
  std::vector<CallBase*> calls_;
  bool changed_ = false;
};

}  // namespace

CallInst* as_mark(Instruction& instruction) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  if (!intrinsic || intrinsic->getIntrinsicID() != Intrinsic::var_annotation) return nullptr;
  // User annotations have a file name in their third operand.
  return isa<ConstantPointerNull>(intrinsic->getArgOperand(2)) ? intrinsic : nullptr;
}

bool mark_function(Function& function, Sites& sites) {
  if (function.isDeclaration() || function.hasFnAttribute(Attribute::Naked) ||
      function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation)) {
    return false;
  }
  return Marking(function, sites).run();
}

}  // namespace plumb::pass
