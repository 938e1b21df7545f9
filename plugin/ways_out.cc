#include "ways_out.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace plumb::pass {

namespace {

constexpr std::size_t kMaxWays = 32;

bool ends_scope(const Instruction& instruction) {
  auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  return intrinsic && intrinsic->getIntrinsicID() == Intrinsic::lifetime_end;
}

// Where the source leaves from this block: the statement that its last own
// instruction belongs to, not the end of an inner scope.
const DILocation* leaving(const BasicBlock& block) {
  const DILocation* fallback = nullptr;
  for (const Instruction& instruction : reverse(block)) {
    const DILocation* location = instruction.getDebugLoc().get();
    if (!location || location->getLine() == 0) continue;
    if (!ends_scope(instruction)) return location;
    if (!fallback) fallback = location;
  }
  return fallback;
}

bool is_meeting(const BasicBlock& block) {
  if (block.hasNPredecessorsOrMore(2) == false) return false;
  return any_of(block, ends_scope);
}

}  // namespace

bool WaysOut::is_unwinding(const BasicBlock& block) {
  // A landing pad, or a block that only leads on from one.
  const BasicBlock* at = &block;
  for (int steps = 0; at && steps < 64; ++steps) {
    if (at->isLandingPad()) return true;
    if (is_meeting(*at)) {
      return all_of(predecessors(at), [](const BasicBlock* from) {
        return from->isLandingPad() ||
               (from->getSinglePredecessor() && from->getSinglePredecessor()->isLandingPad());
      });
    }
    at = at->getSinglePredecessor();
  }
  return false;
}

WaysOut::Meeting& WaysOut::meeting_at(BasicBlock& block) {
  const auto [place, is_new] = meetings_.try_emplace(&block);
  Meeting& meeting = place->second;
  if (!is_new) return meeting;
  for (BasicBlock* from : predecessors(&block)) {
    const DILocation* location = leaving(*from);
    if (auto* invoke = dyn_cast<InvokeInst>(from->getTerminator())) {
      location = invoke->getDebugLoc().get();
    }
    const auto known = find(meeting.places, location);
    const unsigned index = static_cast<unsigned>(known - meeting.places.begin());
    if (known == meeting.places.end()) meeting.places.push_back(location);
    meeting.ways.emplace_back(from, index);
  }
  return meeting;
}

std::vector<const DILocation*> WaysOut::places(const Instruction& end) {
  const BasicBlock& block = *end.getParent();
  const DILocation* here = end.getDebugLoc().get();
  if (!ends_scope(end) || !is_meeting(block)) return {here};
  const Meeting& meeting = meeting_at(const_cast<BasicBlock&>(block));
  const bool all_known = all_of(meeting.places, [](const DILocation* place) { return place; });
  if (!all_known || meeting.places.size() > kMaxWays) return {here};
  return meeting.places;
}

Value* WaysOut::way(IRBuilder<>& builder, const Instruction& end) {
  BasicBlock& block = const_cast<BasicBlock&>(*end.getParent());
  Meeting& meeting = meeting_at(block);
  if (!meeting.taken) {
    IRBuilder<> head(&block, block.begin());
    PHINode* phi = head.CreatePHI(builder.getInt64Ty(), static_cast<unsigned>(meeting.ways.size()));
    for (const auto& [from, index] : meeting.ways) phi->addIncoming(builder.getInt64(index), from);
    meeting.taken = phi;
  }
  return meeting.taken;
}

}  // namespace plumb::pass
