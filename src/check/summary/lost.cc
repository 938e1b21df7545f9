#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

// Do these values lead to the followed block?
bool FunctionRun::mark_focus(const State& state, std::vector<ValueId> work) const {
  std::vector<ValueId> done;
  while (!work.empty()) {
    const ValueId next = work.back();
    work.pop_back();
    if (next == focus_) return true;
    const Value& v = values_[next];
    switch (v.kind) {
      case ValueKind::none:
      case ValueKind::integer:
      case ValueKind::param:
      case ValueKind::fresh:
      case ValueKind::merge:
      case ValueKind::compare:
        continue;  // leads nowhere that we could follow
      default:
        break;
    }
    if (std::find(done.begin(), done.end(), next) != done.end()) continue;
    done.push_back(next);
    switch (v.kind) {
      case ValueKind::pointer:
      case ValueKind::index:
      case ValueKind::cast:
      case ValueKind::cell:
      case ValueKind::reach:
        work.push_back(v.a);
        break;
      case ValueKind::binary:
        work.push_back(v.a);
        work.push_back(v.b);
        break;
      default:
        break;
    }
    if (v.kind != ValueKind::object) continue;
    for (const Cell& cell : state.cells) {
      if (values_.target(cell.base) == next) work.push_back(cell.value);
    }
  }
  return false;
}

// From everything that the function still has or that is outside of it.
bool FunctionRun::reaches_focus(const State& state, ValueId extra) const {
  std::vector<ValueId> work{extra};
  for (const ValueId value : state.vars) {
    if (value != kNoValue && is_focus(value)) return true;
    work.push_back(value);
  }
  for (const auto& [operation, value] : state.results) work.push_back(value);
  for (const Cell& cell : state.cells) {
    if (!values_.is_heap(values_.target(cell.base))) work.push_back(cell.value);
  }
  work.insert(work.end(), state.given.begin(), state.given.end());
  return mark_focus(state, std::move(work));
}

bool FunctionRun::leads_to_focus(const State& state, ValueId top) const {
  const ValueId base = values_.target(top);
  std::vector<ValueId> work{base};
  for (const Cell& cell : state.cells) {
    if (values_.target(cell.base) == base) work.push_back(cell.value);
  }
  return mark_focus(state, std::move(work));
}

void FunctionRun::check_lost(State& state, std::uint32_t index, LossKind kind, ValueId kept) {
  if (mode_ != Mode::site || state.fate != Fate::live) return;
  if (reaches_focus(state, kept)) return;
  // A block that another lost one holds is lost with it, not by itself.
  const bool indirect = std::any_of(state.cells.begin(), state.cells.end(), [&](const Cell& cell) {
    return is_focus(cell.value) && values_.target(cell.base) != focus_;
  });
  state.fate = Fate::freed;  // done with on this path
  if (indirect) return;
  Candidate out;
  out.function = id_.index;
  out.origin = {id_.index, site_.operation, site_.callee, site_.inner};
  const bool scope_left = kind == LossKind::scope_end || kind == LossKind::returned;
  out.operation = scope_left && state.way_out != 0 ? state.way_out : index;
  out.lost_at = index;
  out.kind = kind;
  out.holder = lost_holder_;
  out.merged = state.merged;
  for (std::uint32_t at = state.trail; at; at = trails_[at].before) {
    out.trail.push_back(trails_[at].step);
  }
  std::reverse(out.trail.begin(), out.trail.end());
  if (replaying_) {
    replayed_loss(state, std::move(out));
  } else {
    candidates_->push_back(std::move(out));
  }
}

}  // namespace plumb::check
