#include "check/prove/certainty.h"

#include <algorithm>

#include "check/summary/grounds.h"

namespace plumb::check {

namespace {

// Counted: 105 of 132, 30 of 54 and 2 of 15.
constexpr double kNoDoubt = 0.8;
constexpr double kMadeBelow = 0.5;
constexpr double kUnknownMemory = 0.2;

// Functions, from the one that loses it to the one that calls the allocator.
constexpr unsigned kFarBelow = 4;

// Does the maker hand it out in any case that is one?
bool is_conditional(const NewBlock& block) {
  return std::ranges::none_of(block.cases, [](const Case& each) { return each.guards.empty(); });
}

bool is_made_far_below(const Candidate& candidate, const std::vector<Summary>& summaries) {
  if (candidate.origin.callee == Origin::kNone) return false;
  Origin at = candidate.origin;
  unsigned functions = 1;
  for (; at.callee != Origin::kNone && functions < kFarBelow; ++functions) {
    const Summary& summary = summaries[at.callee];
    if (at.inner >= summary.blocks.size()) return false;
    const NewBlock& block = summary.blocks[at.inner];
    if (functions == 1 && !is_conditional(block)) return false;
    at = block.origin;
  }
  return functions == kFarBelow;
}

bool rests_on_unknown_memory(const Candidate& candidate) {
  const auto last = std::find_if(candidate.trail.rbegin(), candidate.trail.rend(),
                                 [](const TrailStep& step) { return step.rests != 0; });
  return last != candidate.trail.rend() && is_unknown_memory(last->rests);
}

}  // namespace

Doubt doubt_of(const Candidate& candidate, const std::vector<Summary>& summaries) {
  if (defect_of(candidate.kind) != Defect::leak || candidate.oom ||
      candidate.kind == LossKind::parked || candidate.kind == LossKind::thrown) {
    return Doubt::none;
  }
  // A result that nobody takes is lost on any path.
  if (candidate.kind != LossKind::discarded && rests_on_unknown_memory(candidate)) {
    return Doubt::unknown_memory;
  }
  return is_made_far_below(candidate, summaries) ? Doubt::made_below : Doubt::none;
}

double confidence_of(Doubt doubt) {
  switch (doubt) {
    case Doubt::none:
      return kNoDoubt;
    case Doubt::made_below:
      return kMadeBelow;
    case Doubt::unknown_memory:
      return kUnknownMemory;
  }
  return kNoDoubt;
}

}  // namespace plumb::check
