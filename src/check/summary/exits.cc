#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

constexpr std::size_t kMostWrites = 40;
constexpr std::size_t kMostGuards = 24;
constexpr std::size_t kMostBeside = 24;
constexpr std::size_t kMostThrows = 3;        // ways in which a function throws
constexpr std::size_t kMostThrowGuards = 12;  // of each

}  // namespace

bool about_input(const Values& values, ValueId id) {
  const Value& v = values[id];
  switch (v.kind) {
    case ValueKind::param:
      return true;
    case ValueKind::cell:
    case ValueKind::pointer:
    case ValueKind::element:
    case ValueKind::cast:
      return about_input(values, v.a);
    case ValueKind::object:
      return ObjectId{v.number}.kind() == ObjectKind::global;
    case ValueKind::binary:
    case ValueKind::compare:
      return about_input(values, v.a) && (values.is_integer(v.b) || about_input(values, v.b));
    default:
      return false;
  }
}

namespace {

// Does the value say something of what is in `block`, and of nothing else?
bool tells_content(const Values& values, ValueId id, ValueId block) {
  const Value& v = values[id];
  switch (v.kind) {
    case ValueKind::cell:
      return values.root(v.a) == block;
    case ValueKind::cast:
      return tells_content(values, v.a, block);
    case ValueKind::binary:
    case ValueKind::compare:
      return tells_content(values, v.a, block) && values.is_integer(v.b);
    default:
      return false;
  }
}

bool is_input_place(const Values& values, ValueId base) {
  const Value& root = values[values.root(base)];
  return root.kind == ValueKind::param ||
         (root.kind == ValueKind::object && ObjectId{root.number}.kind() == ObjectKind::global);
}

}  // namespace

bool FunctionRun::is_about_input(ValueId value) const { return about_input(values_, value); }

// The source says of each load and store whether it moves a pointer: what only
// ever moves as a number is no block.
void FunctionRun::note_use(ValueId value, bool pointer) {
  if (mode_ != Mode::plain) return;
  const std::size_t at = 2 * std::size_t{value.index} + (pointer ? 1 : 0);
  if (used_as_.size() <= at) used_as_.resize(at + 64, false);
  used_as_[at] = true;
}

bool FunctionRun::is_plain_number(ValueId value) const {
  const std::size_t at = 2 * std::size_t{value.index};
  return at + 1 < used_as_.size() && used_as_[at] && !used_as_[at + 1];
}

// An input that this function frees, keeps, stores or returns.
void FunctionRun::touch_input(ValueId value, bool surely, bool freed) {
  if (mode_ != Mode::plain) return;
  take_from(value, freed);
  ValueId target = values_.target(value);
  if (const ValueId entered = entered_as_[target]; entered != kNoValue) target = entered;
  if (!surely && is_plain_number(target)) return;
  const Value& v = values_[target];
  if (v.kind != ValueKind::param && v.kind != ValueKind::cell && v.kind != ValueKind::reach) return;
  if (values_[values_.root(target)].kind != ValueKind::param) return;
  if (std::find(touched_inputs_.begin(), touched_inputs_.end(), target) == touched_inputs_.end()) {
    touched_inputs_.push_back(target);
  }
  if (v.kind == ValueKind::reach && surely && is_given_walk(v.a)) {
    touch_input(v.a, surely, freed);
  }
}

void FunctionRun::leave(State& state, std::uint32_t index, bool throws) {
  const Operation& o = body_.operations[index];
  ValueId result = kNoValue;
  if (!throws && o.op == Op::returns && o.width) result = value(state, o.a);

  // The variables end here; what only they held is lost.
  last_holder_ = {};
  for (std::uint32_t i = 0; i < state.vars.size(); ++i) {
    const bool holds = state.vars[i] != kNoValue && is_focus(state.vars[i]);
    if (holds) last_holder_ = {Operand::of(OperandKind::var, i)};
    state.vars[i] = kNoValue;
  }
  state.results.clear();
  std::erase_if(state.cells, [&](const Cell& cell) {
    const Value& root = values_[values_.root(cell.base)];
    if (is_focus(cell.value) && root.kind == ValueKind::object &&
        ObjectId{root.number}.kind() == ObjectKind::var) {
      last_holder_ = {Operand::of(OperandKind::var, ObjectId{root.number}.index()),
                      values_.root(cell.base) == cell.base ? cell.offset : -1};
    }
    return root.kind == ValueKind::object && ObjectId{root.number}.kind() == ObjectKind::var;
  });
  // What main returns is a number.
  const ValueId kept = body_.display == "main" ? kNoValue : result;
  check_lost(state, index, throws ? LossKind::thrown : LossKind::returned, kept);
  if (replaying_) return;
  if (state.lost_at != 0) {
    report_failure(state);
    return;
  }
  if (mode_ == Mode::site && state.failure != kNoValue && !limits_.oom) return;
  if (mode_ == Mode::plain) {
    if (result != kNoValue && body_.returns_pointer) {
      touch_input(result);
      take_where_held(state, result);
    }
    if (result != kNoValue && values_[result].kind == ValueKind::pair) {
      touch_input(values_.word(result, 0));
      touch_input(values_.word(result, 8));
    }
    add_plain_exit(state, result, throws);
  } else if (mode_ == Mode::input || state.fate == Fate::live || follows_freed(state)) {
    add_case(state, result, throws);
  }
}

// What is known of the inputs where an exception leaves the function.
void FunctionRun::add_throw(const State& state) {
  constexpr std::size_t kMostClasses = 6;
  auto told =
      std::ranges::find(throws_, state.thrown, [](const Thrown& each) { return each.what.thrown; });
  const bool any = !throws_.empty() && throws_.front().what.thrown == kAnyClass;
  if (told == throws_.end() && any) return;
  if (told == throws_.end()) {
    if (state.thrown >= kAnyClass || throws_.size() == kMostClasses) {
      throws_.assign(1, {{kAnyClass, {}}, true});
      return;
    }
    throws_.push_back({{state.thrown, {}}, false});
    told = throws_.end() - 1;
  }
  if (told->ways_lost) return;
  std::vector<GuardSet>& ways = told->what.ways;
  GuardSet way;
  for (const auto& [about, fact] : state.facts) {
    if (way.guards.size() == kMostThrowGuards) break;
    // That the object is there says nothing.
    const bool is_there = values_[about].kind == ValueKind::param && fact == Fact{.nonzero = true};
    if (!is_there && about_input(values_, about)) way.guards.push_back({about, fact});
  }
  const auto same = [&](const GuardSet& other) {
    return std::ranges::equal(other.guards, way.guards, [](const Guard& a, const Guard& b) {
      return a.value == b.value && a.fact == b.fact;
    });
  };
  if (std::ranges::any_of(ways, same)) return;
  told->ways_lost = way.guards.empty() || ways.size() == kMostThrows;
  if (told->ways_lost) {
    ways.clear();
  } else {
    ways.push_back(std::move(way));
  }
}

void FunctionRun::add_plain_exit(const State& state, ValueId result, bool throws) {
  if (throws) {
    add_throw(state);
    return;
  }
  plain_exits_.emplace_back(state, result);
}

// The places that hold the followed block, and those that hold what holds it.
std::vector<Cell> FunctionRun::holders_of(const State& state) const {
  std::vector<Cell> out;
  std::vector<ValueId> work{focus_};
  std::vector<ValueId> done;
  while (!work.empty()) {
    const ValueId next = work.back();
    work.pop_back();
    if (std::find(done.begin(), done.end(), next) != done.end()) continue;
    done.push_back(next);
    for (const Cell& cell : state.cells) {
      if (values_.tagged_target(cell.value) != next) continue;
      const bool in_block = values_.is_heap(values_.target(cell.base));
      if (!in_block && !is_input_place(values_, cell.base)) continue;
      const Value& v = values_[cell.value];
      const bool untouched =
          v.kind == ValueKind::cell && v.a == cell.base && v.number == cell.offset;
      if (untouched) continue;
      out.push_back(cell);
      if (in_block) work.push_back(values_.target(cell.base));
    }
  }
  return out;
}

bool FunctionRun::is_handed_out(const Case& each) const {
  const auto returned = [&](ValueId block) {
    if (each.result == kNoValue) return false;
    if (values_[each.result].kind != ValueKind::pair) return values_.target(each.result) == block;
    return values_.target(values_.word(each.result, 0)) == block ||
           values_.target(values_.word(each.result, 8)) == block;
  };
  if (returned(focus_)) return true;
  return std::any_of(each.holders.begin(), each.holders.end(), [&](const Cell& cell) {
    return returned(values_.target(cell.base)) || is_input_place(values_, cell.base);
  });
}

void FunctionRun::add_case(const State& state, ValueId result, bool throws) {
  Case out;
  out.throws = throws;
  if (throws) out.thrown = {state.thrown == kNoClass ? kAnyClass : state.thrown};
  out.fate = state.fate;
  out.freed_by = state.freed_by;
  out.parked = state.parked;
  out.oom = state.oom;
  out.result = result;
  if (result != kNoValue) {
    out.result_fact = state.fact(values_, result);
    out.result_fact.nonzero = out.result_fact.nonzero || is_nonzero(state, result);
  }
  if (state.fate == Fate::live || follows_freed(state)) {
    out.holders = holders_of(state);
    // Reachable, but not by a way that we could tell the caller.
    if (mode_ == Mode::site && !is_handed_out(out)) return;
    if (mode_ == Mode::input) {
      const Value& v = values_[focus_];
      out.in_place = true;
      if (v.kind == ValueKind::cell) {
        const Cell* own = state.find_cell(v.a, v.number);
        out.in_place = !own || own->value == focus_;
      }
      // `*text = append(*text, more)`: that it could not be done is not followed.
      const bool dropped = !out.in_place && out.holders.empty() && !is_focus(result);
      if (dropped && state.failure != kNoValue && !limits_.oom) return;
    }
  }
  for (const Cell& cell : state.cells) {
    if (mode_ != Mode::site || out.beside.size() == kMostBeside) break;
    if (values_.target(cell.base) == focus_ && cell.width != 0) out.beside.push_back(cell);
  }
  for (const Cell& plain : plain_writes_) {
    if (out.beside.size() == kMostBeside) break;
    if (mode_ == Mode::site && values_.target(plain.base) == own_name_) continue;
    const Cell* cell = state.find_cell(plain.base, plain.offset);
    if (cell && cell->width != plain.width) continue;
    const ValueId now = cell ? cell->value : initial(plain.base, plain.offset, plain.width);
    if (now != plain.value && !is_focus(now)) {
      out.beside.push_back({plain.base, plain.offset, plain.width, now});
    }
  }
  for (const auto& [about, fact] : state.facts) {
    if (out.guards.size() == kMostGuards) break;
    if (about == focus_) continue;
    const bool beside = std::any_of(out.beside.begin(), out.beside.end(),
                                    [&](const Cell& cell) { return cell.value == about; });
    if (beside || about_input(values_, about)) out.guards.push_back({about, fact});
  }
  if (mode_ == Mode::input && !state.ways.empty()) {
    for (const Way& way : ways_of(state)) {
      GuardSet& set = out.ways.emplace_back();
      for (const auto& [about, fact] : way) set.guards.push_back({about, fact});
    }
  }
  out.ways_lost = mode_ != Mode::input || state.ways_lost;
  out.by_content = mode_ == Mode::input && std::ranges::any_of(state.facts, [&](const auto& known) {
                     return tells_content(values_, known.first, focus_);
                   });
  // Cases that differ only in their guards are one.
  for (Case& each : cases_) {
    if (each.throws != out.throws || each.fate != out.fate || each.in_place != out.in_place ||
        each.parked != out.parked || each.freed_by != out.freed_by || each.holders != out.holders) {
      continue;
    }
    const bool room = cases_.size() < limits_.cases;
    if (each.result != out.result && room) continue;
    if (each.result != out.result) each.result = values_.fresh();
    add_ways(each, out);
    for (const std::uint32_t thrown : out.thrown) add_class(each.thrown, thrown);
    each.by_content = each.by_content || out.by_content;
    each.oom = each.oom && out.oom;
    each.result_fact = hull(each.result_fact, out.result_fact);
    std::erase_if(each.beside, [&](const Cell& cell) {
      return std::find(out.beside.begin(), out.beside.end(), cell) == out.beside.end();
    });
    std::vector<Guard> both;
    for (const Guard& guard : each.guards) {
      const auto other = std::find_if(out.guards.begin(), out.guards.end(),
                                      [&](const Guard& g) { return g.value == guard.value; });
      if (other == out.guards.end()) continue;
      const Fact fact = hull(guard.fact, other->fact);
      if (!State::is_trivial(values_, guard.value, fact)) both.push_back({guard.value, fact});
    }
    each.guards = std::move(both);
    return;
  }
  if (cases_.size() >= limits_.cases) {
    cases_overflow_ = true;
    return;
  }
  cases_.push_back(std::move(out));
}

std::vector<Case> FunctionRun::export_cases() {
  if (cases_overflow_) return {};
  std::vector<Case> out = std::move(cases_);
  cases_.clear();
  for (Case& each : out) {
    each.result = exported_(each.result);
    for (Guard& guard : each.guards) guard.value = exported_(guard.value);
    for (GuardSet& way : each.ways) {
      for (Guard& guard : way.guards) guard.value = exported_(guard.value);
    }
    for (std::vector<Cell>* cells : {&each.holders, &each.beside}) {
      for (Cell& cell : *cells) {
        cell.base = exported_(cell.base);
        cell.value = exported_(cell.value);
      }
    }
  }
  return out;
}

void FunctionRun::export_plain() {
  Effect& effect = summary_.effect;
  for (Thrown& each : throws_) {
    for (GuardSet& way : each.what.ways) {
      for (Guard& guard : way.guards) guard.value = exported_(guard.value);
    }
    effect.throws.push_back(std::move(each.what));
  }
  throws_.clear();
  effect.returns = !plain_exits_.empty();
  if (plain_exits_.empty()) return;
  // The exits meet in a block after the last.
  const auto after = static_cast<std::uint32_t>(body_.blocks.size());
  State whole = std::move(plain_exits_[0].first);
  ValueId result = plain_exits_[0].second;
  const auto fact_of = [&](State& state, ValueId value) {
    if (value == kNoValue) return Fact{};
    Fact known = state.fact(values_, value);
    known.nonzero = known.nonzero || is_nonzero(state, value);
    return known;
  };
  Fact fact = fact_of(whole, result);
  if (result != kNoValue && plain_exits_.size() > 1) {
    for (const auto& [state, value] : plain_exits_) {
      add_meanings(&state == &plain_exits_[0].first ? whole : state, value);
    }
  }
  for (std::size_t i = 1; i < plain_exits_.size(); ++i) {
    auto& [state, value] = plain_exits_[i];
    fact = hull(fact, fact_of(state, value));
    if (value != result) result = values_.merge(after, kNoValue, INT64_MAX);
    join(whole, state, after);
  }
  plain_exits_.clear();
  effect.result = exported_(result);
  effect.result_fact = fact;
  for (const Move& each : plain_moves_) {
    effect.moves.push_back({exported_(each.from), exported_(each.to)});
  }
  // What the caller had before comes first: of that it can know something.
  for (const bool blocks : {false, true}) {
    for (const Cell& cell : whole.cells) {
      if (plain_writes_.size() == kMostWrites) break;
      if (cell.width == 0) continue;
      const bool in_block = values_.is_heap(values_.target(cell.base));
      if (in_block != blocks || (!in_block && !is_input_place(values_, cell.base))) continue;
      const Value& v = values_[cell.value];
      const bool untouched =
          v.kind == ValueKind::cell && v.a == cell.base && v.number == cell.offset;
      if (untouched) continue;
      plain_writes_.push_back(cell);
      const bool is_merged = v.kind == ValueKind::merge || v.kind == ValueKind::fresh;
      if (is_merged && is_new(cell.value)) exported_.keep_merged(cell.value);
      effect.writes.push_back(
          {exported_(cell.base), cell.offset, cell.width, exported_(cell.value)});
    }
  }
  for (Meaning& meaning : effect.meanings) {
    for (Guard& guard : meaning.guards) guard.value = exported_(guard.value);
    for (GuardSet& way : meaning.ways) {
      for (Guard& guard : way.guards) guard.value = exported_(guard.value);
    }
  }
}

}  // namespace plumb::check
