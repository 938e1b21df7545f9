#include "mark.h"

#include <cstdlib>

#include "beginnings.h"
#include "lexical_ends.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "slots.h"
#include "unwinding.h"
#include "ways_out.h"

using namespace llvm;

namespace plumb::pass {

namespace {

class Marking {
 public:
  Marking(Function& function, Sites& sites, const JumpingFunctions& jumps)
      : function_(function),
        module_(*function.getParent()),
        layout_(function.getDataLayout()),
        sites_(sites),
        jumps_(jumps),
        names_(function),
        beginnings_(function),
        slots_(slots_with_ends()),
        resumes_(has_scopes() ? catch_passing_exceptions(function) : std::vector<ResumeInst*>{}),
        last_uses_(function),
        ways_out_(function),
        pointer_(PointerType::getUnqual(function.getContext())),
        word_(Type::getInt64Ty(function.getContext())) {}

  bool run() {
    collect();
    for (auto& [place, slot] : slots_) begin_scope(slot);
    for (auto& [place, slot] : slots_) end_scope(slot);
    for (VariableArray& array : arrays_) follow_array(array);
    leave_constructor();
    for (StoreInst* store : stores_) mark_store(*store);
    for (Instruction* exchange : exchanges_) mark_exchange(*exchange);
    for (AnyMemIntrinsic* copy : copies_) mark_copy(*copy);
    for (CallBase* call : calls_) mark_call(*call);
    for (CallBase* call : replaced_) call->eraseFromParent();
    return changed_;
  }

 private:
  void collect() {
    for (Instruction& instruction : instructions(function_)) {
      if (auto* array = dyn_cast<AllocaInst>(&instruction); array && !array->isStaticAlloca()) {
        std::vector<std::uint64_t> offsets;
        pointer_offsets(array->getAllocatedType(), layout_, 0, offsets, kMaxPointers);
        if (!offsets.empty()) arrays_.push_back({array, {}});
      } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
        stores_.push_back(store);
      } else if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction)) {
        exchanges_.push_back(&instruction);
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
    site.spot = spot_of(location, function_);
    site.cause = cause;
    return site;
  }

  // What was done last with the pointer at `address`, on the way from these points.
  void note_use(Site& site, Value* address, ArrayRef<const Instruction*> points) const {
    if (const auto use = last_uses_.before(address, points)) set_use(site, *use);
  }
  void set_use(Site& site, const PointerUse& use) const {
    const DISubprogram* program = function_.getSubprogram();
    // A place has one file.
    if (program && use.where->getFile() == program->getFile()) site.use = use;
  }

  // Then what is there is the address of another block, if of any.
  bool is_freed(Value* address, const Instruction& at) const {
    return !keeps_all_ && last_uses_.is_freed_before(address, at);
  }

  bool is_first(const Instruction& writer) const {
    return !keeps_all_ && beginnings_.is_first(writer);
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
    for (const ScopeExit& exit : slot.exits) {
      leave_slot(slot, exit.before, exit.last);
      IRBuilder<> builder(exit.before);
      set_null(builder, slot);  // for the next time around
    }
    if (slot.variable) {
      for (ResumeInst* resume : resumes_) leave_slot(slot, resume);
    }
    if (!slot.ends.empty()) return;
    for (BasicBlock& block : function_) {
      if (isa<ReturnInst>(block.getTerminator())) leave_slot(slot, block.getTerminator());
    }
  }

  // The slot's references go right before `at`.
  void leave_slot(const Slot& slot, Instruction* at) { leave_slot(slot, at, at->getDebugLoc()); }
  void leave_slot(const Slot& slot, Instruction* at, const DebugLoc& where) {
    Named variable;
    if (slot.variable) variable = names_.object_at(slot.place);
    IRBuilder<> builder(at);
    builder.SetCurrentDebugLocation(where);
    for (const std::uint64_t offset : slot.pointers) {
      Site site = site_at(where.get(), Cause::scope_end);
      if (slot.variable) {
        const Named named = names_.part_of(variable, offset);
        site.holder = named.expression();
        site.type = Names::spelling(named.type);
        site.storage = variable.storage;
      } else {
        site.storage = Storage::temporary;
      }
      Value* address = field(builder, slot.place, offset);
      if (!is_freed(address, *at)) {
        mark(builder, builder.CreateAlignedLoad(pointer_, address, MaybeAlign(1)),
             place_on_way(builder, std::move(site), *at, address));
      }
      // Where nobody removes it, the value would stay until the frame goes.
      if (function_.hasOptNone()) clear(builder, address);
    }
  }

  void clear(IRBuilder<>& builder, Value* address) {
    builder.CreateAlignedStore(ConstantPointerNull::get(pointer_), address, MaybeAlign(1));
  }

  // The site at `end`, or at the way by which control came there, of what lies at `address`.
  Value* place_on_way(IRBuilder<>& builder, Site site, const Instruction& end, Value* address) {
    if (ways_out_.is_unwinding(end)) site.cause = Cause::escaped_throw;
    const std::vector<const DILocation*> places = ways_out_.places_at(end);
    if (places.empty()) {
      note_use(site, address, {&end});
      return sites_.make(module_, {std::move(site)});
    }
    const auto origins = ways_out_.origins_at(end);
    // What comes behind where the ways meet is the same for all of them.
    SmallVector<const Instruction*, 8> all;
    for (const auto& each : origins) all.append(each.begin(), each.end());
    const bool together = last_uses_.is_touched_between(address, all, end);
    std::vector<Site> row;
    for (std::size_t i = 0; i < places.size(); ++i) {
      row.push_back(site);
      row.back().spot = spot_of(places[i], function_);
      if (together)
        note_use(row.back(), address, {&end});
      else if (!origins[i].empty())
        note_use(row.back(), address, origins[i]);
    }
    GlobalVariable* first = sites_.make(module_, std::move(row));
    return builder.CreateInBoundsGEP(word_, first, ways_out_.way(builder, end));
  }

  DenseMap<const AllocaInst*, Slot> slots_with_ends() const {
    DenseMap<const AllocaInst*, Slot> slots = slots_of(function_, names_);
    find_lexical_ends(function_, slots);
    return slots;
  }

  bool has_scopes() const {
    if (constructed_class()) return true;
    return any_of(slots_, [](const auto& entry) {
      const Slot& slot = entry.second;
      return slot.variable && !(slot.parameter && !slot.reassigned);
    });
  }

  // The class that this constructor makes an object of; null for others.
  DIType* constructed_class() const {
    const DISubprogram* program = function_.getSubprogram();
    auto* scope = program ? dyn_cast_or_null<DICompositeType>(program->getScope()) : nullptr;
    if (!scope || function_.arg_empty() || function_.getName().contains("D")) {
      if (!scope || function_.arg_empty()) return nullptr;
    }
    return program->getName() == scope->getName().split('<').first ? scope : nullptr;
  }

  // An exception leaves a constructor: the object never was one, its members go.
  void leave_constructor() {
    DIType* type = constructed_class();
    if (!type) return;
    std::vector<Member> members;
    if (!Names::pointers_in(type, 0, "", members, kMaxPointers)) return;
    for (BasicBlock& block : function_) {
      auto* resume = dyn_cast<ResumeInst>(block.getTerminator());
      if (!resume) continue;
      IRBuilder<> builder(resume);
      builder.SetCurrentDebugLocation(resume->getDebugLoc());
      for (const Member& member : members) {
        if (member.name.empty()) continue;
        Site site = site_at(resume->getDebugLoc().get(), Cause::escaped_throw);
        site.holder = "this->" + member.name.substr(1);
        site.storage = Storage::heap;
        Value* address = field(builder, function_.getArg(0), member.offset);
        mark(builder, builder.CreateAlignedLoad(pointer_, address, MaybeAlign(1)),
             place_on_way(builder, std::move(site), *resume, address));
        clear(builder, address);
      }
    }
  }

  struct VariableArray {
    AllocaInst* place;
    std::vector<IntrinsicInst*> ends;
  };

  // An array whose length is only known at run time is dropped as a whole.
  void follow_array(VariableArray& array) {
    IRBuilder<> builder(array.place->getNextNode());
    Value* count = builder.CreateZExtOrTrunc(array.place->getArraySize(), word_);
    const std::uint64_t each = layout_.getTypeAllocSize(array.place->getAllocatedType());
    Value* bytes = builder.CreateMul(count, builder.getInt64(each));
    builder.CreateMemSet(array.place, builder.getInt8(0), bytes, array.place->getAlign());
    const DominatorTree dominators(function_);
    for (BasicBlock& block : function_) {
      for (Instruction& instruction : make_early_inc_range(block)) {
        auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
        const bool restores = intrinsic && intrinsic->getIntrinsicID() == Intrinsic::stackrestore;
        if (!restores || !dominators.dominates(array.place, intrinsic)) continue;
        Site site = site_at(intrinsic->getDebugLoc().get(), Cause::scope_end);
        Named named = names_.object_at(array.place);
        auto* type = dyn_cast_or_null<DICompositeType>(Names::stripped(named.type));
        if (named.known() && type && type->getTag() == dwarf::DW_TAG_array_type) {
          named.type = type->getBaseType();
          shape_of(site, named);
        }
        site.storage = Storage::local;
        drop_range(intrinsic, array.place, bytes, std::move(site));
      }
    }
  }

  void drop_range(Instruction* before, Value* begin, Value* bytes, Site site) {
    IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(before->getDebugLoc());
    CallInst* call = builder.CreateCall(
        module_.getOrInsertFunction(kDropRange, Type::getVoidTy(function_.getContext()), pointer_,
                                    word_, pointer_),
        {begin, builder.CreateZExtOrTrunc(bytes, word_), sites_.make(module_, {std::move(site)})});
    call->setDoesNotThrow();
    changed_ = true;
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
    return any_of(members, [&](const Member& member) { return member.offset == named.inside; });
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
    if (is_first(store) || is_freed(address, store)) return;

    IRBuilder<> builder(&store);
    LoadInst* old = builder.CreateAlignedLoad(pointer_, address, store.getAlign());
    if (store.isAtomic()) old->setAtomic(AtomicOrdering::Monotonic, store.getSyncScopeID());
    // What is stored there now was, as a rule, of the same type before.
    old->setAAMetadata(store.getAAMetadata());
    Site site = site_at(store.getDebugLoc().get(), Cause::overwritten);
    site.holder = named.known() ? named.expression() : "";
    site.type = Names::spelling(named.type);
    site.storage = named.storage;
    note_use(site, address, {&store});
    builder.SetInsertPoint(store.getNextNode());
    builder.SetCurrentDebugLocation(store.getDebugLoc());
    mark(builder, old, sites_.make(module_, {std::move(site)}));
  }

  // What was there before an atomic exchange, if there was one.
  void mark_exchange(Instruction& exchange) {
    auto* swap = dyn_cast<AtomicRMWInst>(&exchange);
    auto* compare = dyn_cast<AtomicCmpXchgInst>(&exchange);
    if (swap && swap->getOperation() != AtomicRMWInst::Xchg) return;
    Value* address = swap ? swap->getPointerOperand() : compare->getPointerOperand();
    Type* type = swap ? swap->getType() : compare->getNewValOperand()->getType();
    // The front end makes numbers of pointers here.
    if (!type->isPointerTy() && !type->isIntegerTy(64)) return;
    if (!is_followed(address)) return;
    IRBuilder<> builder(exchange.getNextNode());
    builder.SetCurrentDebugLocation(exchange.getDebugLoc());
    Value* old = &exchange;
    if (compare) {
      old = builder.CreateSelect(builder.CreateExtractValue(compare, 1),
                                 builder.CreateExtractValue(compare, 0),
                                 Constant::getNullValue(type));
    }
    Named named = names_.object_at(address);
    if (named.known()) named = names_.part_of(named, 0);
    Site site = site_at(exchange.getDebugLoc().get(), Cause::overwritten);
    site.holder = named.known() ? named.expression() : "";
    site.type = Names::spelling(named.type);
    site.storage = named.storage;
    mark(builder, old, sites_.make(module_, {std::move(site)}));
  }

  void mark_copy(AnyMemIntrinsic& copy) {
    Value* to = copy.getRawDest();
    auto* length = dyn_cast<ConstantInt>(copy.getLength());
    if ((length && length->getZExtValue() < 8) || !is_followed(to) || is_first(copy)) return;
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
    drop_range(&copy, to, copy.getLength(), std::move(site));
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
    if (name == "munmap" && call.arg_size() == 2) {
      Site site = site_at(call.getDebugLoc().get(), Cause::unmapped);
      shape_of(site, freed_object(call.getArgOperand(0)));
      drop_range(&call, call.getArgOperand(0), call.getArgOperand(1), std::move(site));
      return;
    }
    if (callee && jumps_.contains(callee)) {
      for (auto& [place, slot] : slots_) {
        if (slot.variable && !(slot.parameter && !slot.reassigned)) leave_slot(slot, &call);
      }
      return;
    }
    if (name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv")) {
      announce_delete(call);
      return;
    }
    if (is_one_of(name, {"asprintf", "vasprintf", "__asprintf_chk", "__vasprintf_chk", "getline",
                         "getdelim", "__getdelim", "posix_memalign"})) {
      mark_out_parameter(call, 0);
    }
    mark_result(call);
  }

  static bool is_one_of(StringRef name, std::initializer_list<StringRef> names) {
    return is_contained(names, name);
  }

  // operator delete is somebody else's; the free inside it is told what for.
  void announce_delete(CallBase& call) {
    Site site = site_at(call.getDebugLoc().get(), Cause::holder_freed);
    shape_of(site, freed_object(call.getArgOperand(0)));
    IRBuilder<> builder(&call);
    builder.SetCurrentDebugLocation(call.getDebugLoc());
    builder
        .CreateCall(module_.getOrInsertFunction(kFreeing, Type::getVoidTy(function_.getContext()),
                                                pointer_, pointer_),
                    {call.getArgOperand(0), sites_.make(module_, {std::move(site)})})
        ->setDoesNotThrow();
    // Its caller is the place.
    if (auto* plain = dyn_cast<CallInst>(&call)) plain->setTailCallKind(CallInst::TCK_NoTail);
    changed_ = true;
  }

  // A function of libc that may put a new pointer where its argument points to.
  void mark_out_parameter(CallBase& call, unsigned index) {
    if (!isa<CallInst>(call)) return;
    Value* address = call.getArgOperand(index);
    if (!is_followed(address)) return;
    IRBuilder<> before(&call);
    Value* old = before.CreateAlignedLoad(pointer_, address, MaybeAlign(1));
    IRBuilder<> behind(call.getNextNode());
    behind.SetCurrentDebugLocation(call.getDebugLoc());
    Value* now = behind.CreateAlignedLoad(pointer_, address, MaybeAlign(1));
    Value* gone =
        behind.CreateSelect(behind.CreateICmpEQ(old, now), ConstantPointerNull::get(pointer_), old);
    Site site = site_at(call.getDebugLoc().get(), Cause::overwritten);
    const Named named = names_.object_at(address);
    site.holder = named.known() ? named.expression() : "";
    site.type = Names::spelling(named.type);
    site.storage = named.storage;
    note_use(site, address, {&call});
    mark(behind, gone, sites_.make(module_, {std::move(site)}));
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
    replaced_.push_back(&call);
    changed_ = true;
  }

  // In C++ a reference, of a function that was given one or an object: `out << text` gives
  // back `out`, `map[key]` what is in the map. As good as none of them makes an object of its own.
  static bool hands_back_reference(const CallBase& call) {
    if (!call.hasRetAttr(Attribute::Dereferenceable)) return false;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      if (call.paramHasAttr(i, Attribute::Dereferenceable)) return true;
    }
    return false;
  }

  // A result that nobody keeps goes after its last use.
  void mark_result(CallBase& call) {
    if (!call.getType()->isPointerTy() || isa<InvokeInst>(call)) return;
    if (call.hasRetAttr(Attribute::NoAlias)) {
      if (auto* plain = dyn_cast<CallInst>(&call)) plain->setTailCallKind(CallInst::TCK_NoTail);
    }
    if (call.getReturnedArgOperand() || (!keeps_all_ && hands_back_reference(call))) return;
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
    if (!unused && last->getDebugLoc() && !isa<ICmpInst>(last)) {
      set_use(site,
              {last->getDebugLoc().get(), isa<CallInst>(last) ? UseKind::call : UseKind::access});
    }
    site.storage = Storage::temporary;
    // A method's result came out of its object.
    if (unused && call.arg_size() != 0 && call.getCalledFunction() &&
        call.getCalledFunction()->getName().starts_with("_ZN") &&
        call.getArgOperand(0)->getType()->isPointerTy()) {
      const Named object = names_.object_at(call.getArgOperand(0));
      if (object.known()) site.holder = object.text;
    }
    IRBuilder<> builder(last->getNextNode());
    builder.SetCurrentDebugLocation(last->getDebugLoc());
    mark(builder, &call, sites_.make(module_, {std::move(site)}));
  }

  Function& function_;
  Module& module_;
  const DataLayout& layout_;
  Sites& sites_;
  const JumpingFunctions& jumps_;
  Names names_;
  Beginnings beginnings_;
  DenseMap<const AllocaInst*, Slot> slots_;
  std::vector<ResumeInst*> resumes_;  // where exceptions pass that nobody here caught
  LastUses last_uses_;                // after it: calls that may throw have become others
  WaysOut ways_out_;
  PointerType* pointer_;
  Type* word_;
  std::vector<VariableArray> arrays_;
  std::vector<StoreInst*> stores_;
  std::vector<Instruction*> exchanges_;
  std::vector<AnyMemIntrinsic*> copies_;
  std::vector<CallBase*> calls_;
  std::vector<CallBase*> replaced_;  // there to the end: the last uses know them
  const bool keeps_all_ = keeps_all();
  bool changed_ = false;
};

}  // namespace

bool keeps_all() { return std::getenv("PLUMB_PASS_KEEP") != nullptr; }

CallInst* as_mark(Instruction& instruction) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  if (!intrinsic || intrinsic->getIntrinsicID() != Intrinsic::var_annotation) return nullptr;
  // User annotations have a file name in their third operand.
  return isa<ConstantPointerNull>(intrinsic->getArgOperand(2)) ? intrinsic : nullptr;
}

bool mark_function(Function& function, Sites& sites, const JumpingFunctions& jumps) {
  if (function.isDeclaration() || function.hasFnAttribute(Attribute::Naked) ||
      function.hasFnAttribute(Attribute::DisableSanitizerInstrumentation)) {
    return false;
  }
  return Marking(function, sites, jumps).run();
}

}  // namespace plumb::pass
