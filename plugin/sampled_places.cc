#include "sampled_places.h"

#include <algorithm>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "sampled_choice.h"

using namespace llvm;

namespace plumb::pass {

namespace {

// Beyond this, later loops of the function are not changed over in.
constexpr std::size_t kMostPlaces = 12;

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

bool can_be_kept(const Value& value) {
  const Type* type = value.getType();
  return type->isFirstClassType() && !type->isTokenTy() && !type->isMetadataTy() &&
         !type->isLabelTy() && !type->isX86_AMXTy() && !type->isScalableTy();
}

bool is_used_in(const Value& value, const Blocks& blocks) {
  return any_of(value.users(), [&](const User* user) {
    auto* instruction = dyn_cast<Instruction>(user);
    return instruction && blocks.contains(instruction->getParent());
  });
}

}  // namespace

Places find_places(Function& function) {
  Places places;
  {
    DominatorTree dominators(function);
    LoopInfo loops(dominators);
    const std::vector<Loop*> outermost(loops.begin(), loops.end());
    for (Loop* loop : outermost) {
      if (places.all.size() == kMostPlaces) break;
      if (loop->getHeader()->isEHPad()) continue;
      if (!loop->getLoopPreheader() &&
          !InsertPreheaderForLoop(loop, &dominators, &loops, nullptr, false)) {
        continue;
      }
      Place place;
      place.checked = needs_check(*loop);
      BasicBlock* preheader = loop->getLoopPreheader();
      place.before = SplitBlock(preheader, preheader->getTerminator(), &dominators, &loops);
      place.head = loop->getHeader();
      place.body =
          SplitBlock(place.head, place.head->getFirstNonPHIIt(), &dominators, &loops, nullptr);
      places.all.push_back(place);
    }
  }
  const DataLayout& layout = function.getParent()->getDataLayout();
  Type* result = function.getReturnType();
  const std::uint64_t start =
      result->isVoidTy() ? 0 : alignTo(layout.getTypeAllocSize(result).getFixedValue(), 16);
  std::uint64_t variables_end = start;
  for (Instruction& instruction : function.getEntryBlock()) {
    if (!isa<AllocaInst>(instruction)) continue;
    places.variables.push_back({&instruction, variables_end});
    variables_end += layout.getPointerSize();
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
    for (unsigned other = 1; other <= places.all.size(); ++other) {
      Place& later_place = places.all[other - 1];
      if (&later_place != &place && later.contains(later_place.before)) {
        later_place.reached_from.push_back(static_cast<unsigned>(&place - places.all.data()) + 1);
      }
    }
  }
  return places;
}

}  // namespace plumb::pass
