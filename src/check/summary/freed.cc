// What is freed twice, or in another way than it was made.
//
// A block that is followed is live, then freed; freed again is an error, and so is to
// free what one family made ("new[]") in the way of another ("new"). Families are the
// words that the models give, so a resource that a user names has these errors, too.
// After the first free the block is followed as long as something still refers to it
// that the program could free: only what is known to be the same block counts, not an
// element of an array or what unknown code kept. A callee frees it again when one of
// the callee's cases does, under conditions that the caller's path does not contradict.
//
// Limits: a function that frees what it is given twice is not seen, nor is a block that
// went out of sight in between.
#include <algorithm>

#include "check/summary/function_run.h"

namespace plumb::check {

void FunctionRun::release(State& state, std::uint32_t index, ValueId value, FamilyId family) {
  const bool exact = focus_ != kNoValue && is_focus(value);
  if (exact && follows_freed(state)) {
    report_freed(state, index, LossKind::freed_twice, family);
    state.freed_at = kNotFreed;  // said once
    return;
  }
  const bool was_live = state.fate == Fate::live;
  if (exact && was_live && mode_ == Mode::site && limits_.mismatched_free && family != 0 &&
      family_ != 0 && family != family_) {
    report_freed(state, index, LossKind::freed_wrongly, family);
  }
  free_value(state, value);
  if (!exact || !was_live || state.fate != Fate::freed) return;
  state.freed_by = family;
  if (mode_ != Mode::site) return;
  state.freed_at = index;
  if (follows_freed(state)) state.trail = extend(state.trail, index, -1);
}

// The case of a call that frees the followed block has come about.
void FunctionRun::freed_by_callee(State& state, std::uint32_t index, const Case& taken) {
  state.freed_by = taken.freed_by;
  if (mode_ != Mode::site) return;
  state.freed_at = index;
  const bool wrong = taken.freed_by != 0 && family_ != 0 && taken.freed_by != family_;
  if (!wrong || !limits_.mismatched_free) return;
  const State as_is = state;
  report_freed(as_is, index, LossKind::freed_wrongly, taken.freed_by);
}

bool FunctionRun::is_seen(const State& state) const {
  const auto is_it = [&](const auto& entry) { return holds_focus(entry.second); };
  return std::ranges::any_of(state.vars,
                             [&](ValueId each) { return each != kNoValue && is_focus(each); }) ||
         std::ranges::any_of(state.results, is_it) ||
         std::ranges::any_of(state.cells, [&](const Cell& cell) { return is_focus(cell.value); });
}

void FunctionRun::report_freed(const State& state, std::uint32_t index, LossKind kind,
                               FamilyId by) {
  Candidate out = candidate(state, index, kind);
  out.holder.clear();
  if (kind == LossKind::freed_twice) out.freed_at = state.freed_at;
  out.family = family_;
  out.freed_by = by;
  if (replaying_) {
    replayed_loss(state, out);
  } else {
    candidates_->push_back(std::move(out));
  }
}

}  // namespace plumb::check
