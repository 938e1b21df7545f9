#include "check/summary/function_run.h"

namespace plumb::check {

ValueId FunctionRun::new_block(State& state, const Origin& origin, bool maybe_null) {
  std::uint32_t at = 0;
  while (at < origins_.size() && !(origins_[at] == origin)) ++at;
  if (at == origins_.size()) origins_.push_back(origin);
  const std::uint32_t object = ++objects_;
  state.heap.push_back({object, at, maybe_null});
  return values_.object(ObjectId::of(ObjectKind::heap, object));
}

void FunctionRun::raise(State state, std::uint32_t index) {
  const Operation& next = body_.operations[index + 1];
  if (next.op == Op::invoke_end) {
    send(BlockIndex::of(block_of_[index]), next.targets[1], std::move(state));
  } else {
    add_case(state, index, true);
  }
}

void FunctionRun::call(State state, std::uint32_t index, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  std::vector<ValueId> arguments;
  for (std::uint32_t i = 0; i < o.pool_count; ++i) {
    arguments.push_back(value(state, body_.pool[o.pool_begin + i]));
  }
  const Value callee = values_[value(state, o.a)];
  const ProgramSymbol* symbol = nullptr;
  if (callee.kind == ValueKind::object && ObjectId{callee.number}.kind() == ObjectKind::function) {
    symbol = &program_.symbol(ProgramSymbolId::of(ObjectId{callee.number}.index()));
  }
  if (symbol && symbol->function) {
    const Summary& summary = summaries_[symbol->function->index];
    if (summary.known) {
      call_summary(state, index, *symbol->function, arguments, after);
      return;
    }
  } else if (symbol) {
    if (const LibraryModel* model = library_.find(symbol->name)) {
      call_library(state, index, *model, arguments, after);
      return;
    }
  }
  if (o.noreturn || (symbol && symbol->declaration && symbol->declaration->noreturn)) return;
  call_unknown(state, index, symbol ? symbol->declaration : nullptr, arguments);
  after.push_back(std::move(state));
}

void FunctionRun::call_unknown(State& state, std::uint32_t index, const Declaration* declaration,
                               const std::vector<ValueId>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool reads = declaration && i < 64 && (declaration->const_params >> i & 1);
    const bool keeps = !declaration || i >= 64 || (declaration->kept_params >> i & 1);
    if (reads) continue;
    if (keeps) escape(state, arguments[i]);
    havoc(state, arguments[i]);
  }
  if (body_.operations[index].width) state.set_result(index, values_.fresh());
}

void FunctionRun::call_library(State& state, std::uint32_t index, const LibraryModel& model,
                               const std::vector<ValueId>& arguments, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  const auto argument = [&](int i) {
    return i >= 0 && static_cast<std::size_t>(i) < arguments.size()
               ? arguments[static_cast<std::size_t>(i)]
               : values_.integer(0);
  };
  if (model.noreturn) {
    if (model.throws) raise(std::move(state), index);
    return;
  }
  const Origin origin{id_.index, index, Origin::kNone, 0};
  if (model.copies && arguments.size() >= 3) copy(state, arguments[0], arguments[1], arguments[2]);
  for (std::size_t i = 0; i < arguments.size() && i < 32; ++i) {
    if (model.writes >> i & 1) havoc(state, arguments[i]);
    if (model.keeps >> i & 1) escape(state, arguments[i]);
    if (model.frees >> i & 1) {
      free_value(state, arguments[i]);
      lost_holder_.clear();
      if (!state.heap.empty()) check_lost(state, index, LossKind::holder_freed);
    }
  }
  ValueId result = kNoValue;
  if (model.allocates) {
    result = new_block(state, origin, true);
    if (model.zeroed) fill(state, result, values_.integer(0), values_.fresh());
  } else if (model.reallocates >= 0) {
    const ValueId old = argument(model.reallocates);
    result = new_block(state, origin, true);
    // The new block takes over what the old one held.
    std::vector<Cell> moved;
    const ValueId base = values_.place(old).base;
    for (const Cell& cell : state.cells) {
      if (cell.base == base && !values_.is_integer(base)) moved.push_back(cell);
    }
    for (const Cell& cell : moved) state.set_cell(result, cell.offset, cell.width, cell.value);
    free_value(state, old);
  } else if (model.alloc_to >= 0 || model.grow_to >= 0) {
    const ValueId to = argument(model.alloc_to >= 0 ? model.alloc_to : model.grow_to);
    if (model.grow_to >= 0) free_value(state, load(state, to, 8));
    store(state, to, 8, new_block(state, origin, false));
    if (model.result_zero) result = values_.integer(0);
    if (model.result_positive) {
      result = values_.fresh();
      state.learn(values_, result, {1, INT64_MAX, true});
    }
  } else if (model.returns_or_allocates) {
    const ValueId given = argument(model.returns);
    if (values_.is_zero(given)) {
      result = new_block(state, origin, true);
    } else {
      result = given;
    }
  } else if (model.returns >= 0) {
    result = argument(model.returns);
  } else if (model.within >= 0) {
    const ValueId base = argument(model.within);
    State absent = state;
    absent.set_result(index, values_.integer(0));
    after.push_back(std::move(absent));
    result = values_.index(base, values_.fresh(), 1);
  }
  if (o.width) state.set_result(index, result == kNoValue ? values_.fresh() : result);
  after.push_back(std::move(state));
}

namespace {

// Turns values of a summary into values of the caller, at the call.
class Instance {
 public:
  Instance(std::size_t size) : map_(size, kNoValue) {}
  ValueId& operator[](ValueId id) { return map_[id.index]; }

 private:
  std::vector<ValueId> map_;
};

}  // namespace

void FunctionRun::call_summary(const State& state, std::uint32_t index, FunctionId callee,
                               const std::vector<ValueId>& arguments, std::vector<State>& after) {
  const Operation& o = body_.operations[index];
  const Summary& summary = summaries_[callee.index];
  const Function& target = *program_.functions()[callee.index].body;
  std::uint32_t number = 0;
  for (const Case& each : summary.cases) {
    ++number;
    State next = state;
    Instance map(summary.values.size());
    for (const NewBlock& block : each.blocks) {
      const Origin origin{id_.index, index, callee.index, block.origin};
      const ValueId made = new_block(next, origin, block.maybe_null);
      // `object` values of the summary are interned: find this one.
      for (std::uint32_t i = 1; i < summary.values.size(); ++i) {
        const Value& v = summary.values[ValueId::of(i)];
        if (v.kind == ValueKind::object &&
            ObjectId{v.number} == ObjectId::of(ObjectKind::heap, block.object)) {
          map[ValueId::of(i)] = made;
        }
      }
    }
    // Values are made bottom-up: a value's parts have smaller ids.
    for (std::uint32_t i = 1; i < summary.values.size(); ++i) {
      const ValueId id = ValueId::of(i);
      if (map[id] != kNoValue) continue;
      const Value v = summary.values[id];
      switch (v.kind) {
        case ValueKind::integer:
          map[id] = values_.integer(v.number);
          break;
        case ValueKind::param:
          map[id] = static_cast<std::size_t>(v.number) < arguments.size()
                        ? arguments[static_cast<std::size_t>(v.number)]
                        : values_.fresh();
          break;
        case ValueKind::object: {
          const ObjectKind kind = ObjectId{v.number}.kind();
          map[id] = kind == ObjectKind::global || kind == ObjectKind::function
                        ? values_.object(ObjectId{v.number})
                        : values_.fresh();
          break;
        }
        case ValueKind::cell:
          map[id] = load(next, values_.pointer(map[v.a], v.number), v.width);
          break;
        case ValueKind::pointer:
          map[id] = values_.pointer(map[v.a], v.number);
          break;
        case ValueKind::index:
          map[id] = values_.index(map[v.a], map[v.b], v.number);
          break;
        case ValueKind::binary:
          map[id] = values_.binary(v.code, map[v.a], map[v.b], v.width);
          break;
        case ValueKind::compare:
          map[id] = values_.compare(v.code, map[v.a], map[v.b], v.width);
          break;
        case ValueKind::cast:
          map[id] = values_.cast(v.code, map[v.a], v.width);
          break;
        case ValueKind::reach:
          map[id] = values_.reach(map[v.a]);
          break;
        case ValueKind::fresh:
        case ValueKind::none:
          map[id] = values_.fresh();
          break;
      }
    }
    bool possible = true;
    for (const Guard& guard : each.guards) {
      const ValueId value = map[guard.value];
      const bool zero = guard.fact.low == 0 && guard.fact.high == 0;
      if (zero || guard.fact.nonzero) {
        const ValueId is_zero = values_.compare(Code::eq, value, values_.integer(0), 0);
        possible = assume(next, is_zero, zero);
      }
      possible = possible && next.learn(values_, value, guard.fact);
      if (!possible) break;
    }
    if (!possible) continue;
    next.trail = std::make_shared<Trail>(
        Trail{index, -1, number, next.trail ? next.trail->length + 1 : 1, next.trail});
    for (const ValueId freed : each.freed) {
      const ValueId value = map[freed];
      if (values_[value].kind == ValueKind::reach) {
        // Everything that hangs on it: what we track of it is freed, too.
        std::vector<std::uint32_t> reached;
        mark(next, {values_[value].a}, reached);
        for (const std::uint32_t object : reached) next.forget_heap(object);
      }
      free_value(next, value);
    }
    for (const Cell& write : each.writes) {
      store(next, values_.pointer(map[write.base], write.offset), write.width, map[write.value]);
    }
    for (const ValueId escaped : each.escaped) escape(next, map[escaped]);
    if (o.width)
      next.set_result(index, each.result == kNoValue ? values_.fresh() : map[each.result]);
    if (target.variadic) {
      for (std::size_t i = target.params; i < arguments.size(); ++i) escape(next, arguments[i]);
    }
    if (each.throws) {
      raise(std::move(next), index);
      continue;
    }
    lost_holder_.clear();
    if (!next.heap.empty()) {
      check_lost(next, index, each.freed.empty() ? LossKind::overwritten : LossKind::holder_freed);
    }
    after.push_back(std::move(next));
  }
}

}  // namespace plumb::check
