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
      const ProgramSymbolId id = program_.resolve(where_.unit, SymbolId::of(operand.index()));
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

// An aggregate in a register is kept as the value of its first word; what its
// other words hold goes out of sight.
ValueId FunctionRun::load_whole(State& state, ValueId from, std::uint32_t width) {
  for (std::uint32_t at = kWord; at < width; at += kWord) {
    escape(state, load(state, values_.pointer(from, at), kWord));
  }
  return load(state, from, std::min(width, kWord));
}

ValueId FunctionRun::phi(const State& state, const Operation& operation, BlockIndex from) {
  for (std::uint32_t i = 0; i + 1 < operation.pool_count; i += 2) {
    if (body_.pool[operation.pool_begin + i].bits == from.index) {
      return value(state, body_.pool[operation.pool_begin + i + 1]);
    }
  }
  return values_.fresh();
}

bool FunctionRun::step(State& state, std::uint32_t index) {
  const Operation& o = body_.operations[index];
  switch (o.op) {
    case Op::load:
      state.set_result(index, load_whole(state, value(state, o.a), o.width));
      break;
    case Op::store: {
      lost_holder_.clear();
      if (o.a.kind() == OperandKind::var) lost_holder_ = body_.vars[o.a.index()].name;
      const ValueId to = value(state, o.a);
      const ValueId what = value(state, o.b);
      const std::uint32_t width = std::min(o.width, kWord);
      const ValueId old = load(state, to, width);
      store(state, to, width, what);
      std::uint32_t object = 0;
      if (old != what && values_.is_heap(old, object) && state.find_heap(object)) {
        check_lost(state, index, LossKind::overwritten);
      }
      break;
    }
    case Op::copy:
      copy(state, value(state, o.a), value(state, o.b), value(state, o.c));
      if (!state.heap.empty()) check_lost(state, index, LossKind::overwritten);
      break;
    case Op::fill:
      fill(state, value(state, o.a), value(state, o.b), value(state, o.c));
      if (!state.heap.empty()) check_lost(state, index, LossKind::overwritten);
      break;
    case Op::offset:
      state.set_result(index, values_.pointer(value(state, o.a), o.immediate));
      break;
    case Op::index:
      state.set_result(index, values_.index(value(state, o.a), value(state, o.b), o.immediate));
      break;
    case Op::binary:
      state.set_result(index,
                       values_.binary(o.code, value(state, o.a), value(state, o.b), o.width));
      break;
    case Op::compare:
      state.set_result(index,
                       values_.compare(o.code, value(state, o.a), value(state, o.b), o.width));
      break;
    case Op::cast:
      state.set_result(index, values_.cast(o.code, value(state, o.a), o.width));
      break;
    case Op::select: {
      const int known = decide(state, value(state, o.a));
      const ValueId yes = value(state, o.b);
      const ValueId no = value(state, o.c);
      if (known < 0 && yes != no) {
        escape(state, yes);
        escape(state, no);
      }
      state.set_result(index, known < 0 && yes != no ? values_.fresh() : known == 1 ? yes : no);
      break;
    }
    case Op::extract: {
      // Aggregates in registers are kept as the value of their first word.
      const ValueId whole = value(state, o.a);
      state.set_result(index, o.immediate == 0 ? whole : values_.fresh());
      break;
    }
    case Op::insert: {
      const ValueId part = value(state, o.b);
      if (o.immediate == 0) {
        state.set_result(index, part);
      } else {
        escape(state, part);
        state.set_result(index, value(state, o.a));
      }
      break;
    }
    case Op::scope_end: {
      const VarId var = VarId::of(o.a.index());
      lost_holder_ = body_.vars[var.index].name;
      if (body_.vars[var.index].simple) {
        state.vars[var.index] = kNoValue;
      } else {
        state.drop_cells_of(values_.object(ObjectId::of(ObjectKind::var, var.index)));
      }
      if (!state.heap.empty()) check_lost(state, index, LossKind::scope_end);
      break;
    }
    case Op::landing:
      state.set_result(index, values_.fresh());
      break;
    default:
      break;
  }
  return true;
}

void FunctionRun::finish(BlockIndex block, State state, std::uint32_t index) {
  const Operation& o = body_.operations[index];
  const auto trail = [&](State& on, int branch) {
    on.trail = std::make_shared<Trail>(Trail{index, static_cast<std::int8_t>(branch), 0,
                                             on.trail ? on.trail->length + 1 : 1, on.trail});
  };
  switch (o.op) {
    case Op::jump:
      send(block, o.targets[0], std::move(state));
      break;
    case Op::branch: {
      const ValueId condition = value(state, o.a);
      const int known = decide(state, condition);
      State other = known < 0 ? state : State{};
      if (known != 0 && assume(state, condition, true)) {
        trail(state, 1);
        send(block, o.targets[0], std::move(state));
      } else if (known == 0 && assume(state, condition, false)) {
        trail(state, 0);
        send(block, o.targets[1], std::move(state));
      }
      if (known < 0 && assume(other, condition, false)) {
        trail(other, 0);
        send(block, o.targets[1], std::move(other));
      }
      break;
    }
    case Op::switch_to: {
      const ValueId on = value(state, o.a);
      State rest = state;
      bool rest_possible = true;
      for (std::uint32_t i = 0; i + 1 < o.pool_count; i += 2) {
        const ValueId number = value(state, body_.pool[o.pool_begin + i]);
        const ValueId is = values_.compare(Code::eq, on, number, 0);
        State hit = state;
        if (assume(hit, is, true)) {
          trail(hit, 1);
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
      send(block, o.targets[0], std::move(state));
      break;
    case Op::returns:
      add_case(state, index, false);
      break;
    case Op::resume:
      add_case(state, index, true);
      break;
    default:
      break;  // unreachable: nothing leaks on a path that cannot be
  }
}

}  // namespace plumb::check
