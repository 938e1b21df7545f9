#include <algorithm>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/DebugProgramInstruction.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "check/lower/format.h"
#include "check/lower/unit_builder.h"

namespace plumb::check {

namespace {

std::string type_name(const llvm::DIType* type) {
  std::string suffix;
  while (type) {
    const auto* derived = llvm::dyn_cast<llvm::DIDerivedType>(type);
    if (!type->getName().empty())
      return (type->getName() + (suffix.empty() ? "" : " ") + suffix).str();
    if (!derived) return suffix.empty() ? "" : "? " + suffix;
    switch (derived->getTag()) {
      case llvm::dwarf::DW_TAG_pointer_type:
        suffix.insert(0, 1, '*');
        if (!derived->getBaseType()) return "void " + suffix;
        break;
      case llvm::dwarf::DW_TAG_reference_type:
      case llvm::dwarf::DW_TAG_rvalue_reference_type:
        suffix.insert(0, 1, '&');
        break;
      default:
        break;
    }
    type = derived->getBaseType();
  }
  return suffix;
}

class FunctionBuilder {
 public:
  FunctionBuilder(UnitBuilder& unit, const llvm::Function& source) : unit_(unit), source_(source) {}

  Function build();

 private:
  void number_blocks();
  void add_vars();
  bool is_simple(const llvm::AllocaInst& alloca);
  void lower(const llvm::Instruction& instruction);
  void lower_gep(const llvm::GEPOperator& gep, const llvm::Instruction* at);
  void lower_call(const llvm::CallBase& call);
  void note_class(const llvm::CallBase& call, Operation& out);
  bool lower_intrinsic(const llvm::CallBase& call);
  void lower_terminator(const llvm::Instruction& instruction);
  void lower_atomic(const llvm::AtomicRMWInst& atomic);
  void lower_swap(const llvm::AtomicCmpXchgInst& swap);
  void lower_list(const llvm::GEPOperator& gep);
  std::int64_t aggregate_offset(llvm::Type* type, llvm::ArrayRef<unsigned> indices);
  void resolve_phis();

  Operand operand(const llvm::Value* value);
  Operand constant_operand(const llvm::Constant* value);
  Operand integer(std::int64_t value);
  Operation& add(Op op, const llvm::Instruction* at);
  void result(const llvm::Instruction& instruction) {
    values_[&instruction] = Operand::of(OperandKind::result, last());
  }
  std::uint32_t last() const { return static_cast<std::uint32_t>(out_.operations.size() - 1); }
  BlockIndex block(const llvm::BasicBlock* block) { return BlockIndex::of(blocks_.lookup(block)); }
  std::uint32_t width(const llvm::Type* type) {
    if (!type->isSized()) return 0;
    const llvm::TypeSize size = unit_.layout().getTypeStoreSize(const_cast<llvm::Type*>(type));
    return size.isScalable() ? 0 : static_cast<std::uint32_t>(size.getFixedValue());
  }

  UnitBuilder& unit_;
  const llvm::Function& source_;
  Function out_;
  std::vector<const llvm::BasicBlock*> order_;
  llvm::DenseMap<const llvm::BasicBlock*, std::uint32_t> blocks_;
  llvm::DenseMap<const llvm::Value*, Operand> values_;
  std::unordered_map<std::int64_t, std::uint32_t> integers_;
  std::vector<std::pair<std::uint32_t, const llvm::PHINode*>> phis_;
  const llvm::Instruction* current_ = nullptr;
};

// Reverse post-order in which the blocks of a loop stand together, before what comes
// after it: the ways out of a loop count as successors of its head, and are walked
// first.
void FunctionBuilder::number_blocks() {
  const llvm::DominatorTree dominators(const_cast<llvm::Function&>(source_));
  const llvm::LoopInfo loops(dominators);
  struct Visit {
    const llvm::BasicBlock* block;
    std::vector<const llvm::BasicBlock*> next;
    std::size_t done = 0;
  };
  const auto visit = [&](const llvm::BasicBlock* block) {
    Visit out{block, {}, 0};
    const llvm::Loop* loop = loops.getLoopFor(block);
    if (loop && loop->getHeader() == block) {
      llvm::SmallVector<llvm::BasicBlock*, 8> exits;
      loop->getExitBlocks(exits);
      out.next.insert(out.next.end(), exits.begin(), exits.end());
    }
    for (const llvm::BasicBlock* next : llvm::successors(block)) out.next.push_back(next);
    return out;
  };
  llvm::DenseSet<const llvm::BasicBlock*> seen{&source_.getEntryBlock()};
  std::vector<Visit> stack{visit(&source_.getEntryBlock())};
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.done == top.next.size()) {
      order_.push_back(top.block);
      stack.pop_back();
      continue;
    }
    const llvm::BasicBlock* next = top.next[top.done++];
    if (seen.insert(next).second) stack.push_back(visit(next));
  }
  std::reverse(order_.begin(), order_.end());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    blocks_[order_[i]] = static_cast<std::uint32_t>(i);
  }
}

// A variable that is only loaded and stored as a whole.
bool FunctionBuilder::is_simple(const llvm::AllocaInst& alloca) {
  if (alloca.isArrayAllocation() || !alloca.getAllocatedType()->isSingleValueType()) return false;
  const std::uint32_t size = width(alloca.getAllocatedType());
  for (const llvm::User* user : alloca.users()) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      if (width(load->getType()) != size) return false;
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (store->getValueOperand() == &alloca ||
          width(store->getValueOperand()->getType()) != size) {
        return false;
      }
    } else if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user)) {
      if (!call->isLifetimeStartOrEnd()) return false;
    } else {
      return false;
    }
  }
  return true;
}

namespace {

// The variables of the source by where they live. (At -O1 clang has turned its
// declarations into assignments already.)
llvm::DenseMap<const llvm::Value*, const llvm::DILocalVariable*> declared_variables(
    const llvm::Function& function) {
  llvm::DenseMap<const llvm::Value*, const llvm::DILocalVariable*> out;
  for (const llvm::BasicBlock& block : function) {
    for (const llvm::Instruction& instruction : block) {
      for (const llvm::DbgVariableRecord& record :
           llvm::filterDbgVars(instruction.getDbgRecordRange())) {
        if (record.getType() != llvm::DbgVariableRecord::LocationType::Value)
          out.try_emplace(record.getAddress(), record.getVariable());
      }
      // The older form of the same.
      if (const auto* declare = llvm::dyn_cast<llvm::DbgDeclareInst>(&instruction)) {
        out.try_emplace(declare->getAddress(), declare->getVariable());
      }
    }
  }
  return out;
}

}  // namespace

void FunctionBuilder::add_vars() {
  const auto variables = declared_variables(source_);
  for (const llvm::BasicBlock* block : order_) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (!alloca) continue;
      Var var;
      const auto size = alloca->getAllocationSize(unit_.layout());
      var.size = size && !size->isScalable() ? size->getFixedValue() : 0;
      var.simple = is_simple(*alloca);
      if (const llvm::DILocalVariable* named = variables.lookup(alloca)) {
        var.name = named->getName().str();
        var.type = type_name(named->getType());
        var.shape = unit_.types().of(named->getType());
        var.parameter = named->isParameter();
        var.location = {unit_.file(named->getFile()), named->getLine(), 0};
      }
      values_[alloca] = Operand::of(OperandKind::var, static_cast<std::uint32_t>(out_.vars.size()));
      out_.vars.push_back(std::move(var));
    }
  }
}

Operand FunctionBuilder::integer(std::int64_t value) {
  auto [entry, fresh] = integers_.try_emplace(value, out_.integers.size());
  if (fresh) out_.integers.push_back(value);
  return Operand::of(OperandKind::integer, entry->second);
}

Operand FunctionBuilder::constant_operand(const llvm::Constant* value) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value)) {
    return constant->getBitWidth() <= 64
               ? integer(constant->getBitWidth() == 1
                             ? static_cast<std::int64_t>(constant->getZExtValue())
                             : constant->getSExtValue())
               : Operand{};
  }
  if (llvm::isa<llvm::ConstantPointerNull>(value)) return integer(0);
  if (const auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(value)) {
    return constant_operand(alias->getAliasee());
  }
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(value)) {
    return Operand::of(OperandKind::symbol, unit_.symbol(*global).index);
  }
  if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(value)) {
    lower_gep(*gep, current_);
    return Operand::of(OperandKind::result, last());
  }
  if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(value)) {
    if (expression->isCast()) return constant_operand(expression->getOperand(0));
  }
  return {};
}

Operand FunctionBuilder::operand(const llvm::Value* value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value))
    return constant_operand(constant);
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value)) {
    return Operand::of(OperandKind::param, argument->getArgNo());
  }
  const auto found = values_.find(value);
  return found == values_.end() ? Operand{} : found->second;
}

Operation& FunctionBuilder::add(Op op, const llvm::Instruction* at) {
  Operation& out = out_.operations.emplace_back();
  out.op = op;
  out.location = unit_.location(at ? at->getDebugLoc().get() : nullptr);
  return out;
}

void FunctionBuilder::lower_gep(const llvm::GEPOperator& gep, const llvm::Instruction* at) {
  Operand base = operand(gep.getPointerOperand());
  llvm::APInt constant(64, 0);
  llvm::MapVector<llvm::Value*, llvm::APInt> variable;
  if (!gep.collectOffset(unit_.layout(), 64, variable, constant)) {
    add(Op::index, at).a = base;  // index unknown
    return;
  }
  for (const auto& [index, scale] : variable) {
    const Operand by = operand(index);
    Operation& step = add(Op::index, at);
    step.a = base;
    step.b = by;
    step.immediate = scale.getSExtValue();
    base = Operand::of(OperandKind::result, last());
  }
  Operation& step = add(Op::offset, at);
  step.a = base;
  step.immediate = constant.getSExtValue();
  step.type = variable.empty() ? unit_.record_hash(gep.getSourceElementType()) : 0;
}

Code binary_code(unsigned opcode) {
  switch (opcode) {
    case llvm::Instruction::Add:
      return Code::add;
    case llvm::Instruction::Sub:
      return Code::sub;
    case llvm::Instruction::Mul:
      return Code::mul;
    case llvm::Instruction::SDiv:
      return Code::div_s;
    case llvm::Instruction::UDiv:
      return Code::div_u;
    case llvm::Instruction::SRem:
      return Code::rem_s;
    case llvm::Instruction::URem:
      return Code::rem_u;
    case llvm::Instruction::And:
      return Code::bit_and;
    case llvm::Instruction::Or:
      return Code::bit_or;
    case llvm::Instruction::Xor:
      return Code::bit_xor;
    case llvm::Instruction::Shl:
      return Code::shl;
    case llvm::Instruction::AShr:
      return Code::shr_s;
    case llvm::Instruction::LShr:
      return Code::shr_u;
    default:
      return Code::none;
  }
}

Code compare_code(llvm::CmpInst::Predicate predicate) {
  switch (predicate) {
    case llvm::CmpInst::ICMP_EQ:
      return Code::eq;
    case llvm::CmpInst::ICMP_NE:
      return Code::ne;
    case llvm::CmpInst::ICMP_SLT:
      return Code::lt_s;
    case llvm::CmpInst::ICMP_SLE:
      return Code::le_s;
    case llvm::CmpInst::ICMP_SGT:
      return Code::gt_s;
    case llvm::CmpInst::ICMP_SGE:
      return Code::ge_s;
    case llvm::CmpInst::ICMP_ULT:
      return Code::lt_u;
    case llvm::CmpInst::ICMP_ULE:
      return Code::le_u;
    case llvm::CmpInst::ICMP_UGT:
      return Code::gt_u;
    case llvm::CmpInst::ICMP_UGE:
      return Code::ge_u;
    default:
      return Code::none;
  }
}

Code cast_code(unsigned opcode) {
  switch (opcode) {
    case llvm::Instruction::Trunc:
      return Code::truncate;
    case llvm::Instruction::ZExt:
      return Code::zero_extend;
    case llvm::Instruction::SExt:
      return Code::sign_extend;
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::AddrSpaceCast:
      return Code::same;
    default:
      return Code::none;
  }
}

// The class that a handler is for, when the comparison asks whether it takes what arrived.
const llvm::Value* asked_class(const llvm::ICmpInst& compare) {
  if (compare.getPredicate() != llvm::CmpInst::ICMP_EQ) return nullptr;
  for (const llvm::Use& use : compare.operands()) {
    const auto* asked = llvm::dyn_cast<llvm::IntrinsicInst>(use.get());
    if (asked && asked->getIntrinsicID() == llvm::Intrinsic::eh_typeid_for) {
      return asked->getArgOperand(0)->stripPointerCasts();
    }
  }
  return nullptr;
}

bool FunctionBuilder::lower_intrinsic(const llvm::CallBase& call) {
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
  if (!intrinsic) return false;
  switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::lifetime_end: {
      const Operand var = operand(intrinsic->getArgOperand(1));
      if (var.kind() == OperandKind::var) add(Op::scope_end, &call).a = var;
      return true;
    }
    case llvm::Intrinsic::memcpy:
    case llvm::Intrinsic::memcpy_inline:
    case llvm::Intrinsic::memmove: {
      const Operand to = operand(intrinsic->getArgOperand(0));
      const Operand from = operand(intrinsic->getArgOperand(1));
      const Operand length = operand(intrinsic->getArgOperand(2));
      Operation& out = add(Op::copy, &call);
      out.a = to;
      out.b = from;
      out.c = length;
      return true;
    }
    case llvm::Intrinsic::memset:
    case llvm::Intrinsic::memset_inline: {
      const Operand to = operand(intrinsic->getArgOperand(0));
      const Operand byte = operand(intrinsic->getArgOperand(1));
      const Operand length = operand(intrinsic->getArgOperand(2));
      Operation& out = add(Op::fill, &call);
      out.a = to;
      out.b = byte;
      out.c = length;
      return true;
    }
    // The arguments that have no name are, together, one parameter behind the last that
    // has one; a list of them points to it.
    case llvm::Intrinsic::vastart: {
      const Operand list = operand(intrinsic->getArgOperand(0));
      Operation& out = add(Op::store, &call);
      out.a = list;
      out.b = Operand::of(OperandKind::param, out_.params);
      out.width = sizeof(void*);
      out.pointer = true;
      return true;
    }
    case llvm::Intrinsic::vacopy: {
      const Operand to = operand(intrinsic->getArgOperand(0));
      const Operand from = operand(intrinsic->getArgOperand(1));
      const Operand length = integer(sizeof(void*));
      Operation& out = add(Op::copy, &call);
      out.a = to;
      out.b = from;
      out.c = length;
      return true;
    }
    case llvm::Intrinsic::threadlocal_address:
    case llvm::Intrinsic::expect:
    case llvm::Intrinsic::expect_with_probability:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group:
    case llvm::Intrinsic::ptrmask:
      values_[&call] = operand(intrinsic->getArgOperand(0));
      return true;
    default:
      return true;  // no effect on memory that matters; its result is unknown
  }
}

// The class whose table the callee is taken from, and where in it, when the call is virtual.
void FunctionBuilder::note_class(const llvm::CallBase& call, Operation& out) {
  const auto* slot = llvm::dyn_cast<llvm::LoadInst>(call.getCalledOperand());
  if (!slot) return;
  llvm::APInt offset(64, 0);
  const llvm::Value* table = slot->getPointerOperand()->stripAndAccumulateConstantOffsets(
      unit_.layout(), offset, /*AllowNonInbounds=*/true);
  for (const llvm::User* user : table->users()) {
    const auto* test = llvm::dyn_cast<llvm::IntrinsicInst>(user);
    if (!test || (test->getIntrinsicID() != llvm::Intrinsic::type_test &&
                  test->getIntrinsicID() != llvm::Intrinsic::public_type_test)) {
      continue;
    }
    const auto* type = llvm::cast<llvm::MetadataAsValue>(test->getArgOperand(1));
    out.b = Operand::of(OperandKind::symbol, unit_.class_symbol(type->getMetadata()).index);
    out.immediate = offset.getSExtValue();
    return;
  }
}

void FunctionBuilder::lower_call(const llvm::CallBase& call) {
  if (lower_intrinsic(call)) return;
  const Operand callee = call.isInlineAsm() ? Operand{} : operand(call.getCalledOperand());
  std::vector<Operand> arguments;
  for (const llvm::Use& argument : call.args()) arguments.push_back(operand(argument.get()));
  Operation& out = add(Op::call, &call);
  out.a = callee;
  out.noreturn = call.doesNotReturn();
  out.nounwind = call.doesNotThrow();
  out.varargs = call.getFunctionType()->isVarArg();
  out.pointer = call.getType()->isPointerTy();
  out.width = call.getType()->isVoidTy() ? 0 : width(call.getType());
  out.type = unit_.type_hash(*call.getFunctionType());
  out.read_from = formatted_from(call);
  note_class(call, out);
  out.pool_begin = static_cast<std::uint32_t>(out_.pool.size());
  out.pool_count = static_cast<std::uint32_t>(arguments.size());
  out_.pool.insert(out_.pool.end(), arguments.begin(), arguments.end());
  if (!call.getType()->isVoidTy()) result(call);
}

std::int64_t FunctionBuilder::aggregate_offset(llvm::Type* type, llvm::ArrayRef<unsigned> indices) {
  std::uint64_t at = 0;
  for (const unsigned index : indices) {
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      at += unit_.layout().getStructLayout(structure)->getElementOffset(index);
      type = structure->getElementType(index);
    } else {
      type = llvm::cast<llvm::ArrayType>(type)->getElementType();
      at += index * unit_.layout().getTypeAllocSize(type);
    }
  }
  return static_cast<std::int64_t>(at);
}

// Reference counts live here: old = *p; *p = old OP value.
void FunctionBuilder::lower_atomic(const llvm::AtomicRMWInst& atomic) {
  const Operand to = operand(atomic.getPointerOperand());
  const Operand value = operand(atomic.getValOperand());
  const std::uint32_t size = width(atomic.getType());
  Operation& load = add(Op::load, &atomic);
  load.a = to;
  load.width = size;
  load.pointer = atomic.getType()->isPointerTy();
  result(atomic);
  const Operand old = Operand::of(OperandKind::result, last());
  Operand stored = value;  // exchange
  if (atomic.getOperation() != llvm::AtomicRMWInst::Xchg) {
    Operation& change = add(Op::binary, &atomic);
    change.a = old;
    change.b = value;
    change.width = size;
    change.code = atomic.getOperation() == llvm::AtomicRMWInst::Add   ? Code::add
                  : atomic.getOperation() == llvm::AtomicRMWInst::Sub ? Code::sub
                                                                      : Code::none;
    stored = Operand::of(OperandKind::result, last());
  }
  Operation& store = add(Op::store, &atomic);
  store.a = to;
  store.b = stored;
  store.width = size;
  store.pointer = atomic.getType()->isPointerTy();
}

// A function takes arguments out of a list of them (`va_arg`), and does with them what it
// likes: as if it gave them all to one of which nothing is known.
void FunctionBuilder::lower_list(const llvm::GEPOperator& gep) {
  const auto* type = llvm::dyn_cast<llvm::StructType>(gep.getSourceElementType());
  if (!type || type->isLiteral() || type->getName() != "struct.__va_list_tag") return;
  const Operand list = operand(gep.getPointerOperand());
  Operation& load = add(Op::load, current_);
  load.a = list;
  load.width = sizeof(void*);
  load.pointer = true;
  const Operand arguments = Operand::of(OperandKind::result, last());
  Operation& out = add(Op::call, current_);
  out.nounwind = true;
  out.pool_begin = static_cast<std::uint32_t>(out_.pool.size());
  out.pool_count = 1;
  out_.pool.push_back(arguments);
}

// Whether the exchange happens is not known: an unknown function sees both.
void FunctionBuilder::lower_swap(const llvm::AtomicCmpXchgInst& swap) {
  const Operand to = operand(swap.getPointerOperand());
  const Operand value = operand(swap.getNewValOperand());
  Operation& out = add(Op::call, &swap);
  out.nounwind = true;
  out.width = width(swap.getType());
  out.pool_begin = static_cast<std::uint32_t>(out_.pool.size());
  out.pool_count = 2;
  out_.pool.push_back(to);
  out_.pool.push_back(value);
  result(swap);
}

void FunctionBuilder::lower(const llvm::Instruction& instruction) {
  current_ = &instruction;
  if (instruction.isTerminator()) return lower_terminator(instruction);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const Operand from = operand(load->getPointerOperand());
    Operation& out = add(Op::load, &instruction);
    out.a = from;
    out.width = width(load->getType());
    out.pointer = load->getType()->isPointerTy();
    return result(instruction);
  }
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    const Operand value = operand(store->getValueOperand());
    const Operand to = operand(store->getPointerOperand());
    Operation& out = add(Op::store, &instruction);
    out.a = to;
    out.b = value;
    out.width = width(store->getValueOperand()->getType());
    out.pointer = store->getValueOperand()->getType()->isPointerTy();
    return;
  }
  if (const auto* gep = llvm::dyn_cast<llvm::GEPOperator>(&instruction)) {
    lower_list(*gep);
    lower_gep(*gep, &instruction);
    return result(instruction);
  }
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return lower_call(*call);
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) {
    if (const llvm::Value* handled = asked_class(*compare)) {
      const Operand typeinfo = operand(handled);
      add(Op::catches, &instruction).a = typeinfo;
      return result(instruction);
    }
    const Operand a = operand(compare->getOperand(0));
    const Operand b = operand(compare->getOperand(1));
    Operation& out = add(Op::compare, &instruction);
    out.a = a;
    out.b = b;
    out.code = compare_code(compare->getPredicate());
    out.width = width(compare->getOperand(0)->getType());
    return result(instruction);
  }
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    const Operand a = operand(select->getCondition());
    const Operand b = operand(select->getTrueValue());
    const Operand c = operand(select->getFalseValue());
    Operation& out = add(Op::select, &instruction);
    out.a = a;
    out.b = b;
    out.c = c;
    return result(instruction);
  }
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    add(Op::phi, &instruction).pointer = phi->getType()->isPointerTy();
    phis_.emplace_back(last(), phi);
    return result(instruction);
  }
  if (const Code code = cast_code(instruction.getOpcode()); code != Code::none) {
    const Operand a = operand(instruction.getOperand(0));
    if (code == Code::same) {
      values_[&instruction] = a;
      return;
    }
    Operation& out = add(Op::cast, &instruction);
    out.a = a;
    out.code = code;
    out.width = width(instruction.getType());
    return result(instruction);
  }
  if (const Code code = binary_code(instruction.getOpcode());
      code != Code::none && instruction.getType()->isIntegerTy()) {
    const Operand a = operand(instruction.getOperand(0));
    const Operand b = operand(instruction.getOperand(1));
    Operation& out = add(Op::binary, &instruction);
    out.a = a;
    out.b = b;
    out.code = code;
    out.width = width(instruction.getType());
    out.pointer = code == Code::sub &&
                  llvm::isa<llvm::PtrToIntOperator>(instruction.getOperand(0)) &&
                  llvm::isa<llvm::PtrToIntOperator>(instruction.getOperand(1));
    return result(instruction);
  }
  if (const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    const Operand a = operand(extract->getAggregateOperand());
    Operation& out = add(Op::extract, &instruction);
    out.a = a;
    out.immediate =
        aggregate_offset(extract->getAggregateOperand()->getType(), extract->getIndices());
    out.width = width(extract->getType());
    out.pointer = extract->getType()->isPointerTy();
    return result(instruction);
  }
  if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    const Operand a = operand(insert->getAggregateOperand());
    const Operand b = operand(insert->getInsertedValueOperand());
    Operation& out = add(Op::insert, &instruction);
    out.a = a;
    out.b = b;
    out.immediate =
        aggregate_offset(insert->getAggregateOperand()->getType(), insert->getIndices());
    out.width = width(insert->getInsertedValueOperand()->getType());
    return result(instruction);
  }
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return lower_atomic(*atomic);
  if (const auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return lower_swap(*swap);
  if (llvm::isa<llvm::FreezeInst>(instruction)) {
    values_[&instruction] = operand(instruction.getOperand(0));
    return;
  }
  if (llvm::isa<llvm::LandingPadInst>(instruction)) {
    add(Op::landing, &instruction);
    return result(instruction);
  }
}

void FunctionBuilder::lower_terminator(const llvm::Instruction& instruction) {
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
    if (branch->isUnconditional()) {
      add(Op::jump, &instruction).targets[0] = block(branch->getSuccessor(0));
      return;
    }
    const Operand condition = operand(branch->getCondition());
    Operation& out = add(Op::branch, &instruction);
    out.a = condition;
    out.targets[0] = block(branch->getSuccessor(0));
    out.targets[1] = block(branch->getSuccessor(1));
    return;
  }
  if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
    const Operand on = operand(choice->getCondition());
    std::vector<Operand> pairs;
    for (const auto& entry : choice->cases()) {
      pairs.push_back(constant_operand(entry.getCaseValue()));
      pairs.push_back({block(entry.getCaseSuccessor()).index});
    }
    Operation& out = add(Op::switch_to, &instruction);
    out.a = on;
    out.targets[0] = block(choice->getDefaultDest());
    out.pool_begin = static_cast<std::uint32_t>(out_.pool.size());
    out.pool_count = static_cast<std::uint32_t>(pairs.size());
    out_.pool.insert(out_.pool.end(), pairs.begin(), pairs.end());
    return;
  }
  if (const auto* give = llvm::dyn_cast<llvm::ReturnInst>(&instruction)) {
    const Operand value = give->getReturnValue() ? operand(give->getReturnValue()) : Operand{};
    Operation& out = add(Op::returns, &instruction);
    out.a = value;
    out.width = give->getReturnValue() ? width(give->getReturnValue()->getType()) : 0;
    return;
  }
  if (const auto* invoke = llvm::dyn_cast<llvm::InvokeInst>(&instruction)) {
    lower_call(*invoke);
    Operation& out = add(Op::invoke_end, &instruction);
    out.targets[0] = block(invoke->getNormalDest());
    out.targets[1] = block(invoke->getUnwindDest());
    return;
  }
  if (llvm::isa<llvm::ResumeInst>(instruction)) {
    add(Op::resume, &instruction);
    return;
  }
  if (instruction.getNumSuccessors() > 0) {
    // Computed goto and the like: any of the successors, on an unknown value.
    std::vector<Operand> pairs;
    for (unsigned i = 1; i < instruction.getNumSuccessors(); ++i) {
      pairs.push_back(integer(i));
      pairs.push_back({block(instruction.getSuccessor(i)).index});
    }
    Operation& out = add(Op::switch_to, &instruction);
    out.targets[0] = block(instruction.getSuccessor(0));
    out.pool_begin = static_cast<std::uint32_t>(out_.pool.size());
    out.pool_count = static_cast<std::uint32_t>(pairs.size());
    out_.pool.insert(out_.pool.end(), pairs.begin(), pairs.end());
    return;
  }
  add(Op::unreachable, &instruction);
}

void FunctionBuilder::resolve_phis() {
  for (const auto& [index, phi] : phis_) {
    std::vector<Operand> pairs;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      const llvm::BasicBlock* from = phi->getIncomingBlock(i);
      if (!blocks_.count(from)) continue;
      const llvm::Value* value = phi->getIncomingValue(i);
      // A constant expression would need an operation in the predecessor.
      const bool plain = !llvm::isa<llvm::ConstantExpr>(value);
      pairs.push_back({blocks_.lookup(from)});
      pairs.push_back(plain ? operand(value) : Operand{});
    }
    Operation& out = out_.operations[index];
    out.pool_begin = static_cast<std::uint32_t>(out_.pool.size());
    out.pool_count = static_cast<std::uint32_t>(pairs.size());
    out_.pool.insert(out_.pool.end(), pairs.begin(), pairs.end());
  }
}

Function FunctionBuilder::build() {
  out_.symbol = unit_.symbol(source_);
  out_.display = llvm::demangle(source_.getName().str());
  out_.linkage = linkage_of(source_);
  out_.noreturn = source_.doesNotReturn();
  out_.variadic = source_.isVarArg();
  out_.returns_pointer = source_.getReturnType()->isPointerTy();
  if (const llvm::DISubprogram* debug = source_.getSubprogram(); debug && debug->getType()) {
    const llvm::DITypeRefArray types = debug->getType()->getTypeArray();
    if (types && types.size() > 0) out_.result_shape = unit_.types().of(types[0]);
  }
  out_.return_width = source_.getReturnType()->isVoidTy() ? 0 : width(source_.getReturnType());
  out_.params = static_cast<std::uint32_t>(source_.arg_size());
  out_.type = unit_.type_hash(*source_.getFunctionType());
  if (const llvm::DISubprogram* debug = source_.getSubprogram()) {
    out_.location = {unit_.file(debug->getFile()), debug->getLine(), 0};
  }
  number_blocks();
  add_vars();
  for (const llvm::BasicBlock* from : order_) {
    Block block;
    block.begin = static_cast<std::uint32_t>(out_.operations.size());
    for (const llvm::Instruction& instruction : *from) {
      if (!llvm::isa<llvm::AllocaInst>(instruction)) lower(instruction);
    }
    block.end = static_cast<std::uint32_t>(out_.operations.size());
    out_.blocks.push_back(block);
  }
  resolve_phis();
  return std::move(out_);
}

}  // namespace

Function lower_function(UnitBuilder& unit, const llvm::Function& source) {
  return FunctionBuilder(unit, source).build();
}

}  // namespace plumb::check
