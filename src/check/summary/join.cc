#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

bool is_walked_along(ValueKind kind) {
  return kind == ValueKind::param || kind == ValueKind::cell || kind == ValueKind::object;
}

}  // namespace

// What is merged may still be what was there on entry: then that is what is freed or kept
// when the merged value is.
void FunctionRun::note_entry(ValueId merged, ValueId base, std::int64_t offset, ValueId a,
                             ValueId b) {
  for (const ValueId each : {a, b}) {
    const Value& v = values_[each];
    const bool entered = v.kind == ValueKind::cell && v.a == base && v.number == offset;
    if (entered) entered_as_.set(merged, each);
    if (const ValueId known = entered_as_[each]; known != kNoValue) entered_as_.set(merged, known);
  }
}

// A walk that starts at a parameter: `while (node->first) node = node->first;`.
void FunctionRun::note_walk(std::int64_t var, ValueId param, ValueId a, ValueId b) {
  if ((a != param && b != param) || values_[param].kind != ValueKind::param) return;
  const std::pair walk(static_cast<std::uint32_t>(var), param);
  if (std::ranges::find(walks_, walk) == walks_.end()) walks_.push_back(walk);
}

// Does the call in hand get a variable in which there may still be the parameter? Of what is
// read out of the nodes that is not known: all is one value.
bool FunctionRun::is_given_walk(ValueId param) const {
  const Operation& call = body_.operations[at_];
  for (std::uint32_t i = 0; call.op == Op::call && i < call.pool_count; ++i) {
    const Operand given = body_.pool[call.pool_begin + i];
    if (given.kind() != OperandKind::result) continue;
    const Operation& read = body_.operations[given.index()];
    if (read.op != Op::load || read.a.kind() != OperandKind::var) continue;
    if (std::ranges::find(walks_, std::pair(read.a.index(), param)) != walks_.end()) return true;
  }
  return false;
}

// What is there behind the place where paths meet is new when it is on each of them: a block
// that was made, a null. (A call may hand back what it was given.)
void FunctionRun::note_new(ValueId merged, ValueId a, ValueId b) {
  const bool both = (a == merged || is_new(a)) && (b == merged || is_new(b));
  const bool old = !both || newness_[merged] == Newness::some_old;
  newness_.set(merged, old ? Newness::some_old : Newness::all_new);
}

bool FunctionRun::is_new(ValueId value) const {
  if (values_.is_integer(value) || values_.is_heap(values_.target(value))) return true;
  return newness_[value] == Newness::all_new;
}

// How many bytes `to` is behind `from`, as far as it says itself.
Fact FunctionRun::distance(const State& state, ValueId from, ValueId to) const {
  Fact out{0, 0, false};
  const auto add = [](std::int64_t& bound, std::int64_t more, std::int64_t none) {
    if (more == none || __builtin_add_overflow(bound, more, &bound)) bound = none;
    return bound != none;
  };
  bool low = true;
  bool high = true;
  while (to != from) {
    const Value& v = values_[to];
    Fact step{v.number, v.number, false};
    if (v.kind == ValueKind::index && v.number == 1) {
      step = state.fact(values_, v.b);
    } else if (v.kind != ValueKind::pointer) {
      return {};
    }
    low = low && add(out.low, step.low, INT64_MIN);
    high = high && add(out.high, step.high, INT64_MAX);
    to = v.a;
  }
  return {low ? out.low : INT64_MIN, high ? out.high : INT64_MAX, false};
}

// Where two paths meet at the start of `block`. What they disagree on becomes
// a value that is named by the place, so that joining again changes nothing.
// True when `into` changed.
bool FunctionRun::join(State& into, const State& other, std::uint32_t block) {
  bool changed = false;
  const bool widens = block < shape_.loop_head.size() && shape_.loop_head[block];
  if (mode_ == Mode::input) join_ways(into, other, widens);
  if (mode_ == Mode::plain) join_reasons(into, other, widens);
  // New values and what both sides say of them.
  std::vector<std::pair<ValueId, Fact>>& made = join_room_.made;
  made.clear();
  // Of what is made twice the first counts: states know hundreds of facts.
  const std::uint64_t round = std::uint64_t{++join_room_.number} << 32;
  const auto find_made = [&](ValueId id) -> const std::pair<ValueId, Fact>* {
    const std::uint64_t at = join_room_.made_at[id];
    return at > round ? &made[at - round - 1] : nullptr;
  };
  const auto make = [&](ValueId merged, const Fact& fact) {
    made.emplace_back(merged, fact);
    if (!find_made(merged)) join_room_.made_at.set(merged, round + made.size());
  };
  const auto meet_other = [&](ValueId& value, ValueId with, ValueId place, std::int64_t number) {
    if (value == kNoValue) {
      // A variable that is not set on one path is not read behind it: `int status;` before
      // the loop that sets it.
      changed = true;
      value = with;
      return;
    }
    const ValueId merged = values_.merge(block, place, number, value, with);
    if (mode_ == Mode::plain && place != kNoValue) note_entry(merged, place, number, value, with);
    if (mode_ == Mode::plain) note_new(merged, value, with);
    ValueId met = merged;
    const ValueId root = values_.root(value);
    const Value& r = values_[root];
    const ValueId target = values_.target(value);
    if (target == values_.target(with) && is_walked_along(values_[target].kind)) {
      // A walk along an array or a string stays in it.
      met = values_.index(target, merged, 1);
      Fact fact = hull(distance(into, target, value), distance(other, target, with));
      if (widens && value == met) {
        const Fact before = into.fact(values_, merged);
        if (fact.low < before.low) fact.low = INT64_MIN;
        if (fact.high > before.high) fact.high = INT64_MAX;
      }
      make(merged, fact);
    } else if (root == values_.root(with) && root != value && r.kind == ValueKind::param) {
      // A walk along a structure stays in the structure.
      met = values_.reach(root);
    } else if (values_[value].kind == ValueKind::reach && values_.root(with) == root) {
      met = value;
    } else if (values_.root(with) == value && r.kind == ValueKind::param) {
      met = values_.reach(root);
    }
    if (mode_ == Mode::plain && place == kNoValue && number >= 0 &&
        values_[met].kind == ValueKind::reach) {
      note_walk(number, root, value, with);
    }
    if (met == value && met != merged) return;
    if (met == merged) {
      if (met != value) changed = true;
      // What came out of a global is not seen to be that any more.
      const std::uint32_t home = global_of(place);
      if (global_of(value) != home) lose_sight(value);
      if (global_of(with) != home) lose_sight(with);
      const Fact ours = into.fact(values_, value);
      const Fact theirs = other.fact(values_, with);
      Fact fact = hull(ours, theirs);
      fact.nonzero = is_nonzero(into, value, ours) && is_nonzero(other, with, theirs);
      if (widens && value == merged) {
        // A bound that moves with each round is none.
        const Fact before = into.fact(values_, value);
        if (fact.low < before.low) fact.low = INT64_MIN;
        if (fact.high > before.high) fact.high = INT64_MAX;
      }
      make(merged, fact);
    }
    changed = changed || met != value;
    value = met;
  };
  // Most of what two paths know is the same.
  const auto meet = [&](ValueId& value, ValueId with, ValueId place, std::int64_t number) {
    if (value != with && with != kNoValue) meet_other(value, with, place, number);
  };
  for (std::size_t i = 0; i < into.vars.size(); ++i) {
    meet(into.vars[i], other.vars[i], kNoValue, static_cast<std::int64_t>(i));
  }
  for (auto& [index, value] : into.results) {
    const ValueId with = other.result(index);
    if (with == kNoValue) continue;
    const std::int64_t number = -1 - static_cast<std::int64_t>(index);
    ValueId second = values_.word(value, 8);
    if (value != with && second != kNoValue && values_.word(with, 8) != kNoValue) {
      ValueId first = values_.word(value, 0);
      meet(first, values_.word(with, 0), kNoValue, number);
      meet(second, values_.word(with, 8), kNoValue, number - (std::int64_t{1} << 40));
      value = values_.pair(first, second);
      continue;
    }
    meet(value, with, kNoValue, number);
  }
  // A place that one side has only read: the other would read the same there.
  const auto is_only_read = [&](const Cell& cell) {
    const Value& v = values_[cell.value];
    return v.kind == ValueKind::cell && v.a == cell.base && v.number == cell.offset &&
           v.width == cell.width && cell.width != 0 &&
           (values_[cell.base].kind != ValueKind::index || is_outside(cell.base));
  };
  std::vector<Cell>& kept = join_room_.cells;
  kept.clear();
  auto a = into.cells.begin();
  auto b = other.cells.begin();
  const auto order = [](const Cell& x) { return std::pair(x.base, x.offset); };
  while (a != into.cells.end() || b != other.cells.end()) {
    if (b == other.cells.end() || (a != into.cells.end() && order(*a) < order(*b))) {
      Cell cell = *a++;
      if (is_only_read(cell)) {
        kept.push_back(cell);
        continue;
      }
      const ValueId before = is_outside(cell.base) && cell.width
                                 ? initial(cell.base, cell.offset, cell.width)
                                 : values_.merge(block, cell.base, cell.offset, cell.value);
      meet(cell.value, before, cell.base, cell.offset);
      kept.push_back(cell);
    } else if (a == into.cells.end() || order(*b) < order(*a)) {
      Cell cell = *b++;
      if (is_only_read(cell)) continue;
      ValueId before = is_outside(cell.base) && cell.width
                           ? initial(cell.base, cell.offset, cell.width)
                           : values_.merge(block, cell.base, cell.offset, cell.value);
      if (before != cell.value) {
        meet(before, cell.value, cell.base, cell.offset);
        cell.value = before;
        kept.push_back(cell);
      }
    } else {
      Cell cell = *a++;
      const Cell& with = *b++;
      if (cell.width == with.width) {
        meet(cell.value, with.value, cell.base, cell.offset);
      } else if (cell.value != with.value) {
        cell.value = values_.merge(block, cell.base, cell.offset, cell.value);
      }
      kept.push_back(cell);
    }
  }
  into.cells.swap(kept);

  // What was made here in an earlier round has the same name and is another value.
  const auto is_made_of = [&](ValueId id, const auto& self, int depth) -> bool {
    constexpr int kDeepest = 6;
    if (id == kNoValue || depth > kDeepest) return false;
    const Value& v = values_[id];
    if (v.kind == ValueKind::merge) {
      return find_made(id) != nullptr;
    }
    if (v.kind != ValueKind::compare && v.kind != ValueKind::binary && v.kind != ValueKind::cast) {
      return false;
    }
    return self(v.a, self, depth + 1) || self(v.b, self, depth + 1);
  };
  std::vector<std::pair<ValueId, Fact>>& facts = join_room_.facts;
  facts.clear();
  auto theirs = other.facts.begin();  // in the same order
  for (const auto& [value, fact] : into.facts) {
    if (const auto* renamed = find_made(value)) {  // says something of an earlier round
      changed = changed || fact != renamed->second;
      continue;
    }
    if (!made.empty() && is_made_of(value, is_made_of, 0)) {
      changed = true;
      continue;
    }
    while (theirs != other.facts.end() && theirs->first < value) ++theirs;
    const bool known = theirs != other.facts.end() && theirs->first == value;
    const Fact both = hull(fact, known ? theirs->second : other.unlearnt(values_, value));
    if (both != fact) {
      changed = true;
      into.merged = true;
    }
    if (!State::is_trivial(values_, value, both)) facts.emplace_back(value, both);
  }
  into.facts.swap(facts);
  for (const auto& [value, fact] : made) {
    if (!fact.trivial()) into.learn(values_, value, fact);
  }
  for (const ValueId value : other.given) into.give(value);
  into.returning = into.returning && other.returning
                       ? static_cast<std::uint8_t>(into.returning | other.returning)
                       : 0;
  join_thrown(into, other);
  if (into.way_out != other.way_out) into.way_out = 0;
  if (into.freed_by != other.freed_by) into.freed_by = 0;
  into.used_at = std::max(into.used_at, other.used_at);
  into.merged = into.merged || other.merged;
  into.oom = into.oom && other.oom;
  return changed;
}

}  // namespace plumb::check
