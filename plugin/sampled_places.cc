#include "sampled_places.h"

#include <algorithm>
#include <functional>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "sampled_choice.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// The largest loop of a function is changed over in: each costs hot code. In the
// others a burst may end, but none begins; what they call is checked.
constexpr std::size_t kMostPlaces = 1;

using Blocks = SmallPtrSet<BasicBlock*, 32>;

Blocks reachable_from(BasicBlock* start) {
  Blocks seen;
  std::vector<BasicBlock*> work = {start};
  seen.insert(start);
  while (!work.empty()) {
    BasicBlock* block = work.back();
    work.pop_back();
    for (BasicBlock* next : successors(block)) {
      if (seen.insert(next).second) work.push_back(next);
    }
  }
  return seen;
}

// A phi uses it where it comes from.
bool is_used_in(const Value& value, const Blocks& blocks) {
  return any_of(value.uses(), [&](const Use& use) {
    auto* user = dyn_cast<Instruction>(use.getUser());
    auto* phi = dyn_cast_or_null<PHINode>(user);
    return user && blocks.contains(phi ? phi->getIncomingBlock(use) : user->getParent());
  });
}

std::size_t size_of(const Loop& loop) {
  std::size_t size = 0;
  for (const BasicBlock* block : loop.blocks()) size += block->size();
  return size;
}

// In the order of the program.
std::vector<Loop*> chosen_loops(const LoopInfo& loops) {
  std::vector<Loop*> longer;
  std::vector<std::size_t> sizes;
  for (Loop* loop : loops) {
    BasicBlock* head = loop->getHeader();
    if (head->isEHPad() || !needs_check(*loop)) continue;
    longer.push_back(loop);
    sizes.push_back(size_of(*loop));
  }
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  const std::size_t least = sizes.size() > kMostPlaces ? sizes[kMostPlaces - 1] : 0;
  erase_if(longer, [&](Loop* loop) { return size_of(*loop) < least; });
  return longer;
}

}  // namespace

bool can_be_kept(const Value& value) {
  const Type* type = value.getType();
  return type->isFirstClassType() && !type->isTokenTy() && !type->isMetadataTy() &&
         !type->isLabelTy() && !type->isX86_AMXTy() && !type->isScalableTy();
}

Places find_places(Function& function) {
  Places places;
  {
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    for (Loop* loop : chosen_loops(loops)) {
      Place place;
      place.check = make_check(*function.getParent());
      place.head = loop->getHeader();
      place.body =
          SplitBlock(place.head, place.head->getFirstNonPHIIt(), &dominators, &loops, nullptr);
      places.all.push_back(place);
    }
  }
  if (places.all.empty()) return places;
  const DataLayout& layout = function.getParent()->getDataLayout();
  Type* result = function.getReturnType();
  const std::uint64_t start =
      result->isVoidTy() ? 0 : alignTo(layout.getTypeAllocSize(result).getFixedValue(), 16);
  std::uint64_t variables_end = start;
  for (Instruction& instruction : function.getEntryBlock()) {
    auto* variable = dyn_cast<AllocaInst>(&instruction);
    if (!variable) continue;
    places.alignment = std::max(places.alignment, variable->getAlign());
    variables_end = alignTo(variables_end, variable->getAlign());
    places.variables.push_back({variable, variables_end});
    variables_end += variable->getAllocationSize(layout)->getFixedValue();
  }
  places.frame_size = std::max<std::uint64_t>(variables_end, 16);
  DominatorTree dominators(function);
  for (Place& place : places.all) {
    const Blocks later = reachable_from(place.body);
    std::uint64_t offset = variables_end;
    const auto keep = [&](Value& value) {
      if (!can_be_kept(value) || !is_used_in(value, later)) return;
      offset = alignTo(offset, layout.getABITypeAlign(value.getType()));
      place.live.push_back({&value, offset});
      offset += layout.getTypeAllocSize(value.getType()).getFixedValue();
    };
    for (Argument& argument : function.args()) keep(argument);
    for (Instruction& instruction : instructions(function)) {
      if (instruction.getParent() != place.body && !isa<AllocaInst>(instruction) &&
          dominators.dominates(&instruction, place.body)) {
        keep(instruction);
      }
    }
    places.frame_size = std::max(places.frame_size, offset);
  }
  return places;
}

}  // namespace plumb::pass
