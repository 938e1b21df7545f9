#include "members.h"

#include <limits>
#include <utility>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/Local.h"
#include "mark.h"
#include "sites.h"
#include "thunks.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// Two calls are as short as this one with its table.
constexpr std::size_t kFewest = 3;

// A place as a row and a way; no row when it is something else.
std::pair<Constant*, Value*> split(Value* site) {
  if (auto* row = dyn_cast<Constant>(site)) return {Sites::is_site(row) ? row : nullptr, nullptr};
  auto* chosen = dyn_cast<GetElementPtrInst>(site);
  if (!chosen || chosen->getNumIndices() != 1 || !chosen->getSourceElementType()->isIntegerTy(64)) {
    return {};
  }
  auto* row = dyn_cast<Constant>(chosen->getPointerOperand());
  Value* way = chosen->getOperand(1);
  if (!row || !Sites::is_site(row) || !way->getType()->isIntegerTy(64)) return {};
  return {row, way};
}

// Of one block, from one change of memory to the next.
class Run {
 public:
  explicit Run(std::vector<MemberDrops>& found) : found_(found) {}

  void add(LoadInst& load) {
    if (load.isSimple() && load.getType()->isPointerTy()) loads_.insert(&load);
  }

  void add(CallInst& mark) {
    auto* load = dyn_cast<LoadInst>(mark.getArgOperand(0));
    if (!load || !loads_.contains(load)) return;
    const auto [row, way] = split(mark.getArgOperand(1));
    if (!row) return;
    const DataLayout& layout = mark.getDataLayout();
    Value* address = load->getPointerOperand();
    APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
    Value* object = address->stripAndAccumulateConstantOffsets(layout, offset, true);
    if (!offset.isSignedIntN(32)) return;
    groups_[{object, way}].push_back({&mark, offset.getSExtValue(), row});
  }

  void end() {
    for (auto& [key, members] : groups_) {
      if (members.size() < kFewest) continue;
      found_.push_back({key.first, key.second, std::move(members)});
    }
    groups_.clear();
    loads_.clear();
  }

 private:
  std::vector<MemberDrops>& found_;
  SmallPtrSet<const LoadInst*, 16> loads_;
  MapVector<std::pair<Value*, Value*>, std::vector<MemberDrop>> groups_;
};

// Their number; for each, the offset in the object and the way to its row from there.
GlobalVariable* table_of(Module& module, const MemberDrops& drops, RowOf inlined) {
  LLVMContext& context = module.getContext();
  Type* half = Type::getInt32Ty(context);
  ArrayType* type = ArrayType::get(half, 1 + 2 * drops.members.size());
  auto* table =
      new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, nullptr, "plumb.members");
  std::vector<Constant*> content = {ConstantInt::get(half, drops.members.size())};
  for (const MemberDrop& member : drops.members) {
    content.push_back(ConstantInt::getSigned(half, member.offset));
    content.push_back(relative(inlined(*member.mark, member.row), table, 4 * content.size()));
  }
  table->setInitializer(ConstantArray::get(type, content));
  table->setAlignment(Align(4));
  return table;
}

}  // namespace

std::vector<MemberDrops> member_drops(ArrayRef<CallInst*> marks) {
  std::vector<MemberDrops> found;
  SetVector<BasicBlock*> blocks;
  SmallPtrSet<const Instruction*, 32> kept;
  for (CallInst* mark : marks) {
    blocks.insert(mark->getParent());
    kept.insert(mark);
  }
  for (BasicBlock* block : blocks) {
    Run run(found);
    for (Instruction& instruction : *block) {
      if (CallInst* mark = as_mark(instruction)) {
        if (kept.contains(mark)) run.add(*mark);
      } else if (auto* load = dyn_cast<LoadInst>(&instruction)) {
        run.add(*load);
      } else if (instruction.mayHaveSideEffects() && !instruction.isDebugOrPseudoInst()) {
        run.end();
      }
    }
    run.end();
  }
  return found;
}

void drop_members(const MemberDrops& drops, RowOf inlined) {
  Instruction* last = drops.members.back().mark;
  GlobalVariable* table = table_of(*last->getModule(), drops, inlined);
  drop_out_of_line(last, drops.object, drops.way, table);
  for (const MemberDrop& member : drops.members) {
    Value* value = member.mark->getArgOperand(0);
    member.mark->eraseFromParent();
    RecursivelyDeleteTriviallyDeadInstructions(value);
  }
}

}  // namespace plumb::pass
