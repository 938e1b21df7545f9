#include "beginnings.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr std::uint64_t kToTheEnd = UINT64_MAX;

bool is_constructor(const Function& function) {
  const StringRef name = function.getName();
  // Those of complete objects and of bases; demangling takes its time.
  if (!name.starts_with("_ZN") || !(name.contains("C1") || name.contains("C2"))) return false;
  ItaniumPartialDemangler parts;
  if (parts.partialDemangle(name.str().c_str()) || !parts.isCtorOrDtor()) return false;
  char* base = parts.getFunctionBaseName(nullptr, nullptr);
  const bool destroys = base && base[0] == '~';
  std::free(base);
  return !destroys;
}

// Follows the one way that control takes from the begin of a constructor.
class Walk {
 public:
  Walk(Function& function, DenseSet<const Instruction*>& first)
      : layout_(function.getDataLayout()), object_(function.getArg(0)), first_(first) {}

  void go(BasicBlock* block) {
    SmallPtrSet<const BasicBlock*, 8> seen;
    while (block && seen.insert(block).second) {
      for (Instruction& instruction : *block) {
        if (everywhere_) return;
        visit(instruction);
      }
      block = next(*block);
    }
  }

 private:
  static BasicBlock* next(BasicBlock& block) {
    Instruction* end = block.getTerminator();
    BasicBlock* next = nullptr;
    if (auto* call = dyn_cast<InvokeInst>(end)) next = call->getNormalDest();
    if (auto* branch = dyn_cast<BranchInst>(end); branch && branch->isUnconditional()) {
      next = branch->getSuccessor(0);
    }
    return next && next->getUniquePredecessor() == &block ? next : nullptr;
  }

  void visit(Instruction& instruction) {
    if (auto* store = dyn_cast<StoreInst>(&instruction)) {
      if (store->getValueOperand() == object_) {
        // Its variable; any other one may show it to whom we do not see.
        auto* place = dyn_cast<AllocaInst>(store->getPointerOperand());
        if (!place || variable_)
          everywhere_ = true;
        else
          variable_ = place;
        return;
      }
      if (offset_of(store->getValueOperand())) everywhere_ = true;
      write(instruction, store->getPointerOperand(),
            layout_.getTypeStoreSize(store->getValueOperand()->getType()));
    } else if (auto* copy = dyn_cast<AnyMemIntrinsic>(&instruction)) {
      auto* length = dyn_cast<ConstantInt>(copy->getLength());
      write(instruction, copy->getRawDest(), length ? length->getZExtValue() : kToTheEnd);
    } else if (auto* call = dyn_cast<CallBase>(&instruction);
               call && !isa<IntrinsicInst>(instruction)) {
      pass_on(*call);
    } else if (instruction.mayWriteToMemory() && !isa<IntrinsicInst>(instruction)) {
      everywhere_ = true;
    }
  }

  void write(Instruction& writer, Value* address, std::uint64_t size) {
    const std::optional<std::uint64_t> offset = offset_of(address);
    if (!offset) return;  // not the object: nobody else has its address yet
    if (!is_written(*offset, size)) first_.insert(&writer);
    written_.emplace_back(*offset, size);
  }

  void pass_on(CallBase& call) {
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      const std::optional<std::uint64_t> offset = offset_of(call.getArgOperand(i));
      if (!offset) continue;
      const Function* callee = call.getCalledFunction();
      const std::uint64_t size = call.getParamDereferenceableBytes(i);
      if (i == 0 && size != 0 && callee && is_constructor(*callee))
        written_.emplace_back(*offset, size);
      else
        everywhere_ = true;
    }
  }

  bool is_written(std::uint64_t offset, std::uint64_t size) const {
    return any_of(written_, [&](const auto& known) {
      return (known.second == kToTheEnd || offset < known.first + known.second) &&
             (size == kToTheEnd || known.first < offset + size);
    });
  }

  // Where in the object the address is.
  std::optional<std::uint64_t> offset_of(Value* address) const {
    if (!address->getType()->isPointerTy()) return std::nullopt;
    APInt offset(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    Value* base = address->stripAndAccumulateConstantOffsets(layout_, offset, true);
    auto* load = dyn_cast<LoadInst>(base);
    if (base != object_ && !(load && variable_ && load->getPointerOperand() == variable_)) {
      return std::nullopt;
    }
    return offset.getZExtValue();
  }

  const DataLayout& layout_;
  Argument* object_;
  AllocaInst* variable_ = nullptr;  // that the object's address is kept in
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written_;
  bool everywhere_ = false;  // something may have been written to any part
  DenseSet<const Instruction*>& first_;
};

}  // namespace

Beginnings::Beginnings(Function& function) {
  if (function.arg_empty() || !is_constructor(function)) return;
  Walk(function, first_).go(&function.getEntryBlock());
}

}  // namespace plumb::pass
