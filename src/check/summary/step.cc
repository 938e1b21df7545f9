#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

constexpr std::uint32_t kWord = 8;

}  // namespace

ValueId FunctionRun::value(const State& state, Operand operand) {
  switch (operand.kind()) {
    case OperandKind::result: {
      const ValueId known = state.result(operand.index());
      return known == kNoValue ? values_.fresh() : known;
    }
    case OperandKind::param:
      return values_.param(operand.index());
    case OperandKind::integer:
      return values_.integer(body_.integers[operand.index()]);
    case OperandKind::symbol: {
      const ProgramSymbolId id = linked_
                                     ? ProgramSymbolId::of(operand.index())
                                     : program_.resolve(where_.unit, SymbolId::of(operand.index()));
      const ProgramSymbol& symbol = program_.symbol(id);
      const bool is_function = symbol.function || symbol.declaration;
      return values_.object(
          ObjectId::of(is_function ? ObjectKind::function : ObjectKind::global, id.index));
    }
    case OperandKind::var:
      return values_.object(ObjectId::of(ObjectKind::var, operand.index()));
    case OperandKind::unknown:
      break;
  }
  return values_.fresh();
}

ValueId FunctionRun::phi(const State& state, const Operation& operation, BlockIndex from) {
  for (std::uint32_t i = 0; i + 1 < operation.pool_count; i += 2) {
    if (body_.pool[operation.pool_begin + i].bits == from.index) {
      return value(state, body_.pool[operation.pool_begin + i + 1]);
    }
  }
  return values_.fresh();
}

// A choice that concerns the followed block becomes two states: `more` gets
// the other one.
void FunctionRun::step(State& state, std::uint32_t index, std::vector<State>& more) {
  const Operation& o = body_.operations[index];
  switch (o.op) {
    case Op::load:
      note_access(state, value(state, o.a));
      if (is_focus(value(state, o.a))) state.used_at = index;
      state.set_result(index, load_whole(state, value(state, o.a), o.width));
      note_use(state.result(index), o.pointer || o.width > kWord);
      if (replaying_) note_load(value(state, o.a), state.result(index));
      break;
    case Op::store: {
      // What to return, and where a cleanup goes on, are variables without a name.
      const bool leaves = o.a.kind() == OperandKind::var && body_.vars[o.a.index()].name.empty();
      if (leaves) {
        const Operation& next = body_.operations[index + 1];  // a store is never the last
        const bool jumps = next.op == Op::jump && next.location.line != 0;
        if (jumps || o.location.line != 0) state.way_out = jumps ? index + 1 : index;
      }
      const ValueId to = value(state, o.a);
      note_access(state, to);
      const ValueId what = value(state, o.b);
      if (is_focus(to)) state.used_at = index;
      // One of several things to return: where the ways meet, it is not seen any more.
      if (leaves && o.pointer && body_.returns_pointer) touch_input(what);
      const std::uint32_t width = std::min(o.width, kWord);
      const ValueId second = values_.word(what, kWord);
      const bool watched = mode_ == Mode::site && state.fate == Fate::live;
      const ValueId old = watched ? load(state, to, width) : kNoValue;
      note_use(what, o.pointer || o.width > kWord);
      storing_pointer_ = o.pointer;
      store(state, to, width, second == kNoValue ? what : values_.word(what, 0));
      if (second != kNoValue && o.width > kWord) {
        store(state, values_.pointer(to, kWord), std::min(o.width - kWord, kWord), second);
      }
      storing_pointer_ = true;
      if (leaves && shape_.returned[o.a.index()]) {
        state.returning = static_cast<std::uint8_t>(signs_of(state, what));
      }
      if (watched && old != what && state.fate == Fate::live) {
        last_holder_ = {o.a};
        if (values_.is_heap(values_.target(old))) check_lost(state, index, LossKind::overwritten);
      }
      break;
    }
    case Op::copy:
      copy(state, value(state, o.a), value(state, o.b), value(state, o.c));
      last_holder_ = {};
      check_lost(state, index, LossKind::overwritten);
      break;
    case Op::fill:
      fill(state, value(state, o.a), value(state, o.b), value(state, o.c));
      last_holder_ = {};
      check_lost(state, index, LossKind::overwritten);
      break;
    case Op::offset:
      state.set_result(index, values_.pointer(value(state, o.a), o.immediate));
      break;
    case Op::index:
      state.set_result(index, values_.index(value(state, o.a), value(state, o.b), o.immediate));
      break;
    case Op::binary: {
      const ValueId result = values_.binary(o.code, value(state, o.a), value(state, o.b), o.width);
      if (o.pointer) state.learn(values_, result, {-kLargestObject, kLargestObject, false});
      state.set_result(index, result);
      break;
    }
    case Op::compare: {
      const ValueId a = value(state, o.a);
      const ValueId b = value(state, o.b);
      if (values_.is_zero(b)) {
        if (tested_.size() <= a.index) tested_.resize(a.index + 64, false);
        tested_[a.index] = true;
      }
      state.set_result(index, values_.compare(o.code, a, b, o.width));
      break;
    }
    case Op::cast:
      state.set_result(index, values_.cast(o.code, value(state, o.a), o.width));
      break;
    case Op::select: {
      const ValueId condition = value(state, o.a);
      const int known = decide(state, condition);
      const ValueId yes = value(state, o.b);
      const ValueId no = value(state, o.c);
      if (known >= 0 || yes == no) {
        state.set_result(index, known == 0 ? no : yes);
        break;
      }
      if (mode_ != Mode::plain && (replaying_ || is_focus(yes) || is_focus(no))) {
        State other = state;
        if (assume(other, condition, false)) {
          other.set_result(index, no);
          more.push_back(std::move(other));
        }
        if (assume(state, condition, true)) {
          state.set_result(index, yes);
        } else {
          state.fate = Fate::escaped;  // this way cannot be
        }
        break;
      }
      may_take(yes);
      may_take(no);
      const ValueId either = values_.merge(index, kNoValue, INT64_MIN);
      state.set_result(index, either);
      const Fact fact = hull(state.fact(values_, yes), state.fact(values_, no));
      if (is_nonzero(state, yes) && is_nonzero(state, no)) {
        state.learn(values_, either, {.nonzero = true});
      }
      if (!fact.trivial()) state.learn(values_, either, fact);
      break;
    }
    case Op::extract: {
      // Aggregates in registers are two words, or else the value of their first.
      const ValueId whole = value(state, o.a);
      const ValueId word = values_.word(whole, o.immediate);
      state.set_result(index, word != kNoValue ? word : o.immediate == 0 ? whole : values_.fresh());
      break;
    }
    case Op::insert: {
      const ValueId part = value(state, o.b);
      const ValueId whole = value(state, o.a);
      if (o.immediate == 0) {
        const ValueId second = values_.word(whole, kWord);
        state.set_result(index, second == kNoValue ? part : values_.pair(part, second));
      } else if (o.immediate == kWord) {
        const ValueId first = values_.word(whole, 0);
        state.set_result(index, values_.pair(first == kNoValue ? whole : first, part));
      } else {
        escape(state, part);
        state.set_result(index, whole);
      }
      break;
    }
    case Op::scope_end: {
      const VarId var = VarId::of(o.a.index());
      last_holder_ = held_by_var(state, var.index);
      if (body_.vars[var.index].simple) {
        state.vars[var.index] = kNoValue;
      } else {
        const ValueId object = values_.object(ObjectId::of(ObjectKind::var, var.index));
        state.drop_cells_of(object);
        std::erase_if(state.cells, [&](const Cell& cell) {
          return values_[cell.base].kind == ValueKind::element && values_.root(cell.base) == object;
        });
      }
      check_lost(state, index, LossKind::scope_end);
      break;
    }
    case Op::catches: {
      const int taken = takes(class_of(value(state, o.a)), state.thrown);
      state.set_result(index, taken < 0 ? values_.fresh() : values_.integer(taken));
      break;
    }
    case Op::landing:
      state.set_result(index, values_.fresh());
      break;
    default:
      break;
  }
}

void FunctionRun::finish(BlockIndex block, State state, std::uint32_t index) {
  const Operation& o = body_.operations[index];
  Grounds rests = 0;
  const auto trail = [&](State& on, int branch) {
    on.trail = extend(on.trail, index, branch, rests);
  };
  switch (o.op) {
    case Op::jump:
      decide_openly(false);
      send(block, o.targets[0], std::move(state));
      break;
    case Op::branch: {
      state.way_out = 0;
      const ValueId condition = value(state, o.a);
      if (state.failure != kNoValue) {
        const Value& asked = values_[condition];
        state.tested = state.tested || condition == state.failure || asked.a == state.failure ||
                       asked.b == state.failure;
      }
      if (given_up(state)) break;
      const int known = decide(state, condition);
      decide_openly(known < 0);
      if (replaying_ && known < 0) rests = grounds_of(condition);
      State other = known < 0 ? state : State{};
      const bool spared = known < 0 && presumes_spared(state, o.a, o.targets[1], o.targets[0]);
      const bool other_spared =
          known < 0 && presumes_spared(state, o.a, o.targets[0], o.targets[1]);
      if (known != 0 && !spared && assume(state, condition, true)) {
        trail(state, 1);
        send(block, o.targets[0], std::move(state));
      } else if (known == 0 && assume(state, condition, false)) {
        trail(state, 0);
        send(block, o.targets[1], std::move(state));
      }
      if (known < 0 && !other_spared && assume(other, condition, false)) {
        trail(other, 0);
        send(block, o.targets[1], std::move(other));
      }
      break;
    }
    case Op::switch_to: {
      const ValueId on = value(state, o.a);
      decide_openly(!values_.is_integer(on));
      if (replaying_) rests = grounds_of(on);
      State rest = state;
      bool rest_possible = true;
      for (std::uint32_t i = 0; i + 1 < o.pool_count; i += 2) {
        const ValueId number = value(state, body_.pool[o.pool_begin + i]);
        const ValueId is = values_.compare(Code::eq, on, number, 0);
        State hit = state;
        if (assume(hit, is, true)) {
          hit.trail = extend(hit.trail, index, 1, rests, static_cast<std::uint16_t>(i / 2));
          send(block, BlockIndex::of(body_.pool[o.pool_begin + i + 1].bits), std::move(hit));
        }
        rest_possible = rest_possible && assume(rest, is, false);
      }
      if (rest_possible) {
        trail(rest, 0);
        send(block, o.targets[0], std::move(rest));
      }
      break;
    }
    case Op::invoke_end:
      // What throws has gone to the other target already: see raise().
      decide_openly(false);
      send(block, o.targets[0], std::move(state));
      break;
    case Op::returns:
      leave(state, index, false);
      break;
    case Op::resume:
      leave(state, index, true);
      break;
    default:
      break;  // unreachable: nothing leaks on a path that cannot be
  }
}

}  // namespace plumb::check
