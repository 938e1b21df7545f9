#include "check/model/place_name.h"
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
      case ValueKind::reach:
      case ValueKind::element:
        work.push_back(v.a);
        break;
      case ValueKind::cell:
        // Out of an array, it may be any of its elements; what was read out of
        // the block itself does not keep the block.
        if (values_.target(v.a) != focus_) work.push_back(v.a);
        break;
      case ValueKind::binary:
      case ValueKind::pair:
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

bool FunctionRun::holds_focus(ValueId value) const {
  const Value& v = values_[value];
  if (v.kind == ValueKind::pair) return holds_focus(v.a) || holds_focus(v.b);
  return is_focus(value);
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

namespace {

// What a container of the C++ library allocates for itself. The library's code is right: it
// loses no such block, nor does a call that comes back to the container's owner; the block is
// lost with the container, when that is freed without its destructor.
bool is_buffer_of_library(const ProgramView& program, const Known& known, Origin origin) {
  constexpr int kDeepest = 12;
  for (int i = 0; i < kDeepest && origin.callee != Origin::kNone; ++i) {
    const Summary* summary = known.find(FunctionId::of(origin.callee));
    if (!summary || origin.inner >= summary->blocks.size()) return false;
    origin = summary->blocks[origin.inner].origin;
  }
  if (origin.callee != Origin::kNone) return false;
  const std::string& name = program.function(FunctionId::of(origin.function)).body->display;
  const bool of_library = name.starts_with("std::") || name.starts_with("__gnu_cxx::");
  return of_library && name.find("allocator<") < name.find("::allocate(");
}

}  // namespace

void FunctionRun::check_lost(State& state, std::uint32_t index, LossKind kind, ValueId kept) {
  if (mode_ != Mode::site || state.fate != Fate::live || state.lost_at != 0) return;
  if (reaches_focus(state, kept)) return;
  if (state.failure != kNoValue) {
    // Reported when the function goes on to its end, having looked at the result.
    // When a path is replayed that was seen to.
    const bool is_store = body_.operations[index].op == Op::store;
    if (kind == LossKind::overwritten && is_store && !replaying_) {
      state.lost_at = index;
      return;
    }
    const bool at_end = kind == LossKind::scope_end || kind == LossKind::returned;
    if (!limits_.oom && !(kind == LossKind::overwritten && is_store) && !(at_end && state.tested)) {
      state.fate = Fate::freed;
      return;
    }
  }
  const Operation& at = body_.operations[index];
  bool in_call = false;
  if (at.op == Op::call) {
    const Value callee = values_[value(state, at.a)];
    const bool named =
        callee.kind == ValueKind::object && ObjectId{callee.number}.kind() == ObjectKind::function;
    in_call =
        named &&
        program_.symbol(ProgramSymbolId::of(ObjectId{callee.number}.index())).function.has_value();
  }
  const bool in_library = body_.display.find("std::") < body_.display.find('(');
  if ((in_call || in_library) &&
      is_buffer_of_library(program_, known_,
                           {id_.index, site_.operation, site_.callee, site_.inner})) {
    state.fate = Fate::freed;
    return;
  }
  // A block that another lost one holds is lost with it, not by itself.
  const auto holder = std::find_if(state.cells.begin(), state.cells.end(), [&](const Cell& cell) {
    return is_focus(cell.value) && values_.target(cell.base) != focus_;
  });
  state.fate = Fate::freed;  // done with on this path
  if (holder != state.cells.end()) {
    note_indirect(state, index, kind, values_.target(holder->base));
    return;
  }
  if (replaying_) {
    replayed_loss(state, candidate(state, index, kind));
  } else {
    candidates_->push_back(candidate(state, index, kind));
  }
}

// Said with the finding of the block that holds it, if there is one.
void FunctionRun::note_indirect(const State& state, std::uint32_t index, LossKind kind,
                                ValueId holder) {
  if (replaying_ || !values_.is_heap(holder)) return;
  const std::uint32_t number = ObjectId{values_[holder].number}.index();
  const auto from =
      std::ranges::find(block_numbers_, number, &std::pair<const Site, std::uint32_t>::second);
  if (from == block_numbers_.end()) return;
  Candidate out = candidate(state, index, kind);
  const Site& site = from->first;
  out.indirect = true;
  out.held_by = {id_.index, site.operation, site.callee, site.inner};
  out.trail.clear();
  candidates_->push_back(std::move(out));
}

Candidate FunctionRun::candidate(const State& state, std::uint32_t index, LossKind kind) const {
  Candidate out;
  out.function = id_.index;
  out.origin = {id_.index, site_.operation, site_.callee, site_.inner};
  const bool scope_left = kind == LossKind::scope_end || kind == LossKind::returned;
  out.operation = scope_left && state.way_out != 0 ? state.way_out : index;
  out.lost_at = index;
  out.used_at = state.used_at;
  out.kind = kind;
  out.holder = name_of(last_holder_);
  out.merged = state.merged;
  out.oom = state.oom || state.failure != kNoValue;
  for (std::uint32_t at = state.trail; at; at = trails_[at].before) {
    out.trail.push_back(trails_[at].step);
  }
  // The scope was left by an exception: that is where it was lost.
  const auto thrown = std::ranges::find(out.trail, TrailStep::kThrows, &TrailStep::branch);
  if (scope_left && thrown != out.trail.end()) {
    out.kind = LossKind::thrown;
    out.operation = thrown->operation;
  }
  std::reverse(out.trail.begin(), out.trail.end());
  return out;
}

LastHolder FunctionRun::held_by_var(const State& state, std::uint32_t var) const {
  LastHolder out{Operand::of(OperandKind::var, var)};
  for (const Cell& cell : state.cells) {
    const Value& base = values_[cell.base];
    if (base.kind == ValueKind::object &&
        ObjectId{base.number} == ObjectId::of(ObjectKind::var, var) && is_focus(cell.value)) {
      out.offset = cell.offset;
    }
  }
  return out;
}

LastHolder FunctionRun::held_by_argument(const State& state, const Operation& call,
                                         const std::vector<ValueId>& arguments) const {
  if (mode_ != Mode::site || state.fate != Fate::live) return {};
  for (const Cell& cell : state.cells) {
    if (!is_focus(cell.value)) continue;
    const Value& place = values_[cell.base];
    for (std::uint32_t i = 0; i < arguments.size() && i < call.pool_count; ++i) {
      if (place.kind == ValueKind::element && place.a == arguments[i]) {
        return {body_.pool[call.pool_begin + i], -1};
      }
      if (values_.place(arguments[i]).base != cell.base) continue;
      return {body_.pool[call.pool_begin + i], cell.offset - values_.place(arguments[i]).offset};
    }
  }
  return {};
}

std::string FunctionRun::name_of(const LastHolder& holder) const {
  if (linked_) return {};  // its operands are not those of a unit
  const Unit& unit = program_.unit_of(where_);
  const Place whole = place_at(unit, body_, holder.address);
  const Place part = holder.offset < 0 ? Place{} : part_of(unit, whole, holder.offset);
  return part.text.empty() ? whole.name() : part.name();
}

// `p = realloc(p, n)` failed, the program saw it and went on without p.
void FunctionRun::report_failure(const State& state) {
  if (!state.tested) return;
  const Operation& store = body_.operations[state.lost_at];
  last_holder_ = {store.a};
  candidates_->push_back(candidate(state, state.lost_at, LossKind::overwritten));
}

// Failed allocations are followed no further than to the store that loses the
// block, unless asked for.
bool FunctionRun::given_up(const State& state) const {
  return mode_ == Mode::site && state.failure != kNoValue && state.lost_at == 0 && !limits_.oom &&
         !state.tested;
}

// The followed block goes into a global.
void FunctionRun::park(State& state, std::uint32_t global, bool below) {
  state.parked = global;
  if (mode_ != Mode::site || !limits_.globals || replaying_) return;
  Candidate out = candidate(state, at_, LossKind::parked);
  out.holder = program_.symbol(ProgramSymbolId::of(global)).name;
  out.parked = global;
  out.below = below;
  candidates_->push_back(std::move(out));
}

// It goes into a block that a global has.
void FunctionRun::park_below(State& state, ValueId holder) {
  if (mode_ != Mode::site || !limits_.globals || state.fate != Fate::live) return;
  const auto has = std::ranges::find_if(state.cells, [&](const Cell& cell) {
    return values_.target(cell.value) == holder && global_of(cell.base) != kNotParked;
  });
  if (has != state.cells.end()) park(state, global_of(has->base), true);
}

// The block, or what a callee left there, is freed, kept or handed on; the globals that
// hold it, or a block that holds it, have done so by now.
void FunctionRun::take_where_held(const State& state, ValueId value, bool freed) {
  if (!limits_.globals || mode_ != Mode::plain) return;
  std::vector<ValueId> work{values_.target(value)};
  std::vector<ValueId> done;
  while (!work.empty()) {
    const ValueId target = work.back();
    work.pop_back();
    if (values_.is_integer(target) || std::ranges::find(done, target) != done.end()) continue;
    done.push_back(target);
    for (const Cell& cell : state.cells) {
      if (values_.target(cell.value) != target) continue;
      const bool top = done.size() == 1;
      take_from(cell.base, freed && top);
      const ValueId holder = values_.target(cell.base);
      if (values_.is_heap(holder)) work.push_back(holder);
    }
  }
}

std::uint32_t FunctionRun::global_of(ValueId value) const {
  value = values_.root(value);
  constexpr int kDeepest = 4;  // a pointer with a tag, say
  for (int i = 0; i < kDeepest && values_[value].kind == ValueKind::binary; ++i) {
    value = values_.root(values_[value].a);
  }
  const Value& root = values_[value];
  const bool global =
      root.kind == ValueKind::object && ObjectId{root.number}.kind() == ObjectKind::global;
  return global ? ObjectId{root.number}.index() : kNotParked;
}

// Something that came out of a global is freed, kept or handed on.
void FunctionRun::take_from(ValueId value, bool freed) {
  may_take(value);
  const std::uint32_t symbol = global_of(value);
  if (!limits_.globals || symbol == kNotParked) return;
  const auto add = [&](std::vector<std::uint32_t>& to) {
    if (std::ranges::find(to, symbol) == to.end()) to.push_back(symbol);
  };
  add(summary_.taken_from);
  // Of a block that stands in the global itself, what it holds is not freed with it.
  const Value& v = values_[value];
  const ValueId place = v.kind == ValueKind::cell ? values_.target(v.a) : values_.target(value);
  if (!freed || values_[place].kind != ValueKind::object) add(summary_.taken_below);
}

// What came out of a global is not seen to be that any more.
void FunctionRun::lose_sight(ValueId value) {
  may_take(value);
  const std::uint32_t symbol = global_of(value);
  if (!limits_.globals || mode_ != Mode::plain || symbol == kNotParked) return;
  std::vector<std::uint32_t>& below = summary_.taken_below;
  if (std::ranges::find(below, symbol) == below.end()) below.push_back(symbol);
}

void FunctionRun::may_take(ValueId value) {
  if (mode_ != Mode::plain) return;
  const std::uint32_t symbol = global_of(value);
  if (symbol == kNotParked) return;
  std::vector<std::uint32_t>& taken = summary_.may_take;
  const auto at = std::lower_bound(taken.begin(), taken.end(), symbol);
  if (at == taken.end() || *at != symbol) taken.insert(at, symbol);
}

// Does a global have the followed block, by a place of its own?
bool FunctionRun::is_in_global(const State& state) const {
  if (mode_ == Mode::plain || state.fate != Fate::live || state.parked == kNotParked) return false;
  return std::any_of(state.cells.begin(), state.cells.end(), [&](const Cell& cell) {
    return is_focus(cell.value) && global_of(cell.base) != kNotParked;
  });
}

// Unknown code may look into the program's globals.
void FunctionRun::give_up_global(State& state) const {
  if (is_in_global(state)) state.fate = Fate::escaped;
}

bool FunctionRun::is_taken_by(const State& state, FunctionId callee) const {
  if (!is_in_global(state)) return false;
  if (known_.is_own(callee)) return true;
  const std::vector<std::uint32_t>& taken = known_.find(callee)->may_take;
  return std::any_of(state.cells.begin(), state.cells.end(), [&](const Cell& cell) {
    return is_focus(cell.value) &&
           std::binary_search(taken.begin(), taken.end(), global_of(cell.base));
  });
}

}  // namespace plumb::check
