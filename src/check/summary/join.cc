#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

// Two states may be merged when they agree on what is allocated and freed.
bool same_memory(const State& a, const State& b) { return a.heap == b.heap && a.freed == b.freed; }

Fact hull(const Fact& a, const Fact& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.nonzero && b.nonzero};
}

constexpr std::size_t kFewStates = 3;  // so many are kept apart anyway

}  // namespace

void FunctionRun::join(State& into, const State& other) {
  const auto meet = [&](ValueId& value, ValueId with) {
    if (value == with) return;
    if (value == kNoValue || with == kNoValue) {
      escape(into, value);
      value = kNoValue;
      return;
    }
    escape(into, value);
    escape(into, with);
    value = values_.fresh();
  };
  for (std::size_t i = 0; i < into.vars.size(); ++i) meet(into.vars[i], other.vars[i]);
  for (auto& [index, value] : into.results) meet(value, other.result(index));
  std::vector<Cell> cells = into.cells;
  std::vector<Cell> kept;
  for (Cell cell : cells) {
    const Cell* with = other.find_cell(cell.base, cell.offset);
    if (with && with->width == cell.width) {
      meet(cell.value, with->value);
      kept.push_back(cell);
    } else {
      escape(into, cell.value);
      cell.value = values_.fresh();
      kept.push_back(cell);
    }
  }
  for (const Cell& cell : other.cells) {
    if (into.find_cell(cell.base, cell.offset)) continue;
    escape(into, cell.value);
    Cell unknown = cell;
    unknown.value = values_.fresh();
    kept.push_back(unknown);
  }
  std::sort(kept.begin(), kept.end(), [](const Cell& a, const Cell& b) {
    return std::pair(a.base, a.offset) < std::pair(b.base, b.offset);
  });
  into.cells = std::move(kept);
  std::vector<std::pair<ValueId, Fact>> facts;
  for (const auto& [value, fact] : into.facts) {
    const Fact both = hull(fact, other.fact(values_, value));
    if (!both.trivial()) facts.emplace_back(value, both);
  }
  if (facts != into.facts || facts.size() != other.facts.size()) into.merged = true;
  into.facts = std::move(facts);
  for (const ValueId value : other.escaped) {
    if (std::find(into.escaped.begin(), into.escaped.end(), value) == into.escaped.end()) {
      into.escaped.push_back(value);
    }
  }
  if (other.trail && into.trail && other.trail->length < into.trail->length)
    into.trail = other.trail;
}

void FunctionRun::limit_states(std::vector<State>& states) {
  if (states.size() <= kFewStates) return;
  std::vector<State> kept;
  for (State& state : states) {
    const auto same = std::find_if(kept.begin(), kept.end(),
                                   [&](const State& k) { return same_memory(k, state); });
    if (same == kept.end()) {
      kept.push_back(std::move(state));
    } else {
      join(*same, state);
    }
  }
  // Still too many: what they disagree on is given up.
  while (kept.size() > limits_.states) {
    State last = std::move(kept.back());
    kept.pop_back();
    State& into = kept.back();
    std::erase_if(into.heap, [&](const HeapBlock& block) { return !last.find_heap(block.object); });
    for (const ValueId value : last.freed) {
      if (std::find(into.freed.begin(), into.freed.end(), value) == into.freed.end()) {
        into.freed.push_back(value);
      }
    }
    join(into, last);
  }
  states = std::move(kept);
}

}  // namespace plumb::check
