#include "check/summary/function_run.h"

#include <algorithm>
#include <iterator>

namespace plumb::check {

namespace {

std::uint64_t mixed(std::uint64_t h, std::uint64_t x) {
  h ^= x + 0x9E3779B97F4A7C15ull + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdull;
}

}  // namespace

void FunctionRun::begin() {
  pending_.assign(body_.blocks.size(), {});
  seen_.assign(body_.blocks.size(), {});
  trails_.assign(1, {});
  cases_.clear();
  cases_overflow_ = false;
  promises_.clear();
  run_work_ = 0;
}

std::uint32_t FunctionRun::extend(std::uint32_t trail, std::uint32_t operation, int branch,
                                  Grounds rests, std::uint16_t way) {
  if (mode_ != Mode::site) return 0;
  trails_.push_back({{operation, static_cast<std::int8_t>(branch), rests, way},
                     trail,
                     trails_[trail].length + 1});
  return static_cast<std::uint32_t>(trails_.size() - 1);
}

// States with equal keys are merged: for them the followed block is held by
// the same places.
std::uint64_t FunctionRun::key_of(const State& state, std::uint32_t at) const {
  std::uint64_t key = mode_ == Mode::plain ? 0 : static_cast<std::uint64_t>(state.fate);
  // A cleanup that several ways share goes on where the way came from, or the
  // function would be thought to return where it only leaves a scope.
  const std::uint64_t steering =
      shape_.live_flags[at] & (mode_ == Mode::plain ? shape_.ways_on : ~std::uint64_t{0});
  for (std::size_t i = 0; i < shape_.flags.size() && i < 64; ++i) {
    if (!(steering >> i & 1)) continue;
    const VarId flag = shape_.flags[i];
    const ValueId value = state.vars[flag.index];
    if (value != kNoValue && values_.is_integer(value)) {
      key = mixed(
          key, std::uint64_t{flag.index} << 40 ^ static_cast<std::uint64_t>(values_[value].number));
    }
  }
  if (state.oom) key = mixed(key, 11);
  if (state.thrown != kNoClass) key = mixed(key, std::uint64_t{state.thrown} << 4 | 13);
  for (const std::uint32_t each : state.caught) key = mixed(key, std::uint64_t{each} << 4 | 14);
  if (mode_ == Mode::plain) {
    // Ways that return an error are told apart from those that do not.
    key = mixed(key, state.returning);
    for (std::size_t i = 0; i < shape_.returned.size(); ++i) {
      if (!shape_.returned[i] || state.vars[i] == kNoValue || body_.vars[i].name.empty()) continue;
      key = mixed(key, std::uint64_t{i + 1} << 8 | signs_of(state, state.vars[i]));
    }
    return key;
  }
  // Where `a && b` is decided, the way on which `a` did not hold goes on at once: a path that
  // came by it and goes on as if both had held is none.
  const Block& entered = body_.blocks[at];
  for (std::uint32_t i = entered.begin; i < entered.end && body_.operations[i].op == Op::phi; ++i) {
    const ValueId chosen = body_.operations[i].width <= 1 ? state.result(i) : kNoValue;
    if (chosen == kNoValue || !values_.is_integer(chosen)) continue;
    key = mixed(key, std::uint64_t{i} << 8 | (values_.is_zero(chosen) ? 1 : 2));
  }
  if (state.parked != kNotParked) key = mixed(key, std::uint64_t{state.parked} << 3 | 7);
  if (state.fate != Fate::live && !follows_freed(state)) return key;
  if (state.failure != kNoValue) {
    key = mixed(key, std::uint64_t{state.failure.index} << 33 ^ std::uint64_t{state.lost_at} << 1 ^
                         (state.tested ? 1 : 0));
  }
  if (mode_ == Mode::site) {
    for (std::size_t i = 0; i < state.vars.size(); ++i) {
      if (state.vars[i] != kNoValue && is_focus(state.vars[i])) key = mixed(key, i + 1);
    }
    for (const auto& [operation, value] : state.results) {
      if (holds_focus(value)) key = mixed(key, std::uint64_t{operation} << 32);
    }
  } else {
    // What is to be returned has no name.
    for (std::size_t i = 0; i < state.vars.size(); ++i) {
      if (state.vars[i] != kNoValue && body_.vars[i].name.empty() && is_focus(state.vars[i])) {
        key = mixed(key, i + 1);
      }
    }
  }
  for (const Cell& cell : state.cells) {
    // What the block has of itself does not hold it: a table of pointers into its own buffer.
    if (!is_focus(cell.value) || values_.target(cell.base) == focus_) continue;
    key =
        mixed(key, std::uint64_t{cell.base.index} << 32 ^ static_cast<std::uint64_t>(cell.offset));
  }
  return key;
}

void FunctionRun::explore() {
  next_pending_ = 0;
  while (true) {
    while (next_pending_ < pending_.size() && pending_[next_pending_].empty()) ++next_pending_;
    if (next_pending_ == pending_.size()) return;
    const std::uint32_t next = next_pending_;
    std::vector<Waiting> waiting = std::move(pending_[next]);
    pending_[next].clear();
    const BlockIndex block = BlockIndex::of(next);
    std::vector<State> states;
    for (Waiting& each : waiting) {
      if (!shape_.loop_head[next] || enter_loop(block, each.state)) {
        states.push_back(std::move(each.state));
      }
    }
    if (!states.empty()) process(block, std::move(states), body_.blocks[next].begin);
    if (run_work_ > limits_.run_work) return;
  }
}

// False when the state adds nothing to what the loop was entered with before.
bool FunctionRun::enter_loop(BlockIndex block, State& state) {
  leave_round(block, state);
  const std::uint64_t key = key_of(state, block.index);
  auto& seen = seen_[block.index];
  const auto same =
      std::find_if(seen.begin(), seen.end(), [&](const Seen& each) { return each.key == key; });
  if (same == seen.end()) {
    // Too many ways to hold the block: a loop that fills an array, say.
    if (seen.size() >= std::size_t{4} * limits_.states) {
      cut(Cut::states);
      return false;
    }
    seen.push_back({key, 1, state});
    return true;
  }
  if (same->visits > limits_.visits) {
    if (on_call_) {
      // Facts that are dropped and found again are no change.
      const State before = same->state;
      join(same->state, state, block.index);
      const State& now = same->state;
      partial_ = partial_ || now.vars != before.vars || now.results != before.results ||
                 now.cells != before.cells || now.facts != before.facts;
    }
    return false;
  }
  ++same->visits;
  if (!join(same->state, state, block.index)) return false;
  const std::uint32_t trail = state.trail;
  state = same->state;
  state.trail = trail;
  return true;
}

// What an array got at an index of this round stays there in the next, which
// uses the same name for another index.
void FunctionRun::leave_round(BlockIndex block, State& state) {
  bool changed = false;
  // What was only read there is read again.
  std::erase_if(state.cells, [&](const Cell& cell) {
    const Value& base = values_[cell.base];
    const Value& held = values_[cell.value];
    return base.kind == ValueKind::index && held.kind == ValueKind::cell && held.a == cell.base &&
           held.number == cell.offset && mentions_round(base.b, block.index, 0);
  });
  for (Cell& cell : state.cells) {
    const Value base = values_[cell.base];
    if (base.kind != ValueKind::index || !mentions_round(base.b, block.index, 0)) continue;
    const ValueId earlier = values_.merge(block.index, kNoValue, INT64_MIN + 1);
    cell.base = values_.index(base.a, earlier, base.number);
    changed = true;
  }
  if (!changed) return;
  std::sort(state.cells.begin(), state.cells.end(), [](const Cell& a, const Cell& b) {
    return std::pair(a.base, a.offset) < std::pair(b.base, b.offset);
  });
  const auto same_place = [](const Cell& a, const Cell& b) {
    return a.base == b.base && a.offset == b.offset;
  };
  // Of two that are now one place, the one with the followed block counts.
  for (std::size_t i = 0; i + 1 < state.cells.size(); ++i) {
    if (same_place(state.cells[i], state.cells[i + 1]) && is_focus(state.cells[i + 1].value)) {
      state.cells[i].value = state.cells[i + 1].value;
    }
  }
  state.cells.erase(std::unique(state.cells.begin(), state.cells.end(), same_place),
                    state.cells.end());
}

bool FunctionRun::mentions_round(ValueId id, std::uint32_t block, int depth) const {
  constexpr int kDeepest = 6;
  if (id == kNoValue || depth > kDeepest) return depth > kDeepest;
  const Value& v = values_[id];
  if (v.kind == ValueKind::merge) return v.width == block && v.number != INT64_MIN + 1;
  if (v.kind == ValueKind::integer || v.kind == ValueKind::param) return false;
  return mentions_round(v.a, block, depth + 1) || mentions_round(v.b, block, depth + 1);
}

// Runs the block from operation `from`. When a site's run starts, `from` is the
// call that made the block, which is done already: see run_site().
void FunctionRun::process(BlockIndex block, std::vector<State> states, std::uint32_t from) {
  const Block& range = body_.blocks[block.index];
  const bool resumed = starting_;
  starting_ = false;
  for (std::uint32_t i = from; i + 1 < range.end && !states.empty(); ++i) {
    // Phis are done on the edge; the call that made the block is done, too.
    const bool skip = (resumed && i == from) || body_.operations[i].op == Op::phi;
    run_work_ += states.size();
    work_ += states.size();
    const Operation& o = body_.operations[i];
    at_ = i;
    const bool starts = replaying_ && i == site_.operation;
    if (!skip && o.op != Op::call && !starts) {
      std::vector<State> more;
      for (State& state : states) step(state, i, more);
      std::ranges::move(more, std::back_inserter(states));
    } else if (!skip) {
      std::vector<State> after;
      for (State& state : states) {
        if (starts && state.fate == Fate::none) {
          start_replayed(std::move(state), i, after);
          note_results(after, 0, i, true);
        } else if (o.op == Op::call) {
          const std::size_t others = after.size();
          const bool made = state.fate != Fate::none;
          call(std::move(state), i, after);
          if (replaying_) note_results(after, others, i, made);
        } else {
          step(state, i, after);
          after.push_back(std::move(state));
        }
      }
      states = std::move(after);
    }
    if (!skip) {
      if (mode_ == Mode::site) {
        std::erase_if(states, [&](const State& state) { return is_over(state); });
      }
      const std::size_t most = std::size_t{2} * limits_.states;
      if (states.size() > most) {
        states.resize(most);
        cut(Cut::states);
      }
    }
    for (const std::uint32_t dead : shape_.dies_after[i]) {
      for (State& state : states) {
        const ValueId old = state.result(dead);
        std::erase_if(state.results, [&](const auto& entry) { return entry.first == dead; });
        if (mode_ == Mode::site && old != kNoValue && state.fate == Fate::live &&
            holds_focus(old)) {
          last_holder_ = {};
          check_lost(state, i, LossKind::discarded);
        }
      }
    }
    if (mode_ == Mode::site && !shape_.dies_after[i].empty()) {
      std::erase_if(states, [&](const State& state) { return is_over(state); });
    }
  }
  for (State& state : states) finish(block, std::move(state), range.end - 1);
}

void FunctionRun::send(BlockIndex from, BlockIndex to, State state) {
  // All phis of the target read the values of the edge at the same time.
  std::vector<std::pair<std::uint32_t, ValueId>> phis;
  const Block& range = body_.blocks[to.index];
  for (std::uint32_t i = range.begin; i < range.end && body_.operations[i].op == Op::phi; ++i) {
    phis.emplace_back(i, phi(state, body_.operations[i], from));
  }
  std::erase_if(state.results, [&](const auto& entry) { return !shape_.crosses[entry.first]; });
  for (const auto& [index, value] : phis) state.set_result(index, value);
  if (state.cells.size() > limits_.cells) {
    // Grows with each round: the run ends here, as one that costs too much.
    cut(Cut::cells);
    run_work_ = limits_.run_work + 1;
    return;
  }
  if (replaying_) {
    send_replayed(from, to, std::move(state));
    return;
  }

  next_pending_ = std::min(next_pending_, to.index);  // a jump back goes on there
  const std::uint64_t key = key_of(state, to.index);
  auto& waiting = pending_[to.index];
  for (Waiting& each : waiting) {
    if (each.key != key) continue;
    const bool shorter = trails_[state.trail].length < trails_[each.state.trail].length;
    join(each.state, state, to.index);
    if (shorter) each.state.trail = state.trail;
    return;
  }
  // Too many ways to hold the block: what does not fit is taken as safe.
  if (waiting.size() < limits_.states) {
    waiting.push_back({key, std::move(state)});
  } else if (mode_ == Mode::plain) {
    join(waiting.back().state, state, to.index);
  } else {
    cut(Cut::states);
  }
}

}  // namespace plumb::check
