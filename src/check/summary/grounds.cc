#include "check/summary/grounds.h"

#include "check/summary/function_run.h"

namespace plumb::check {

// Where the results of the call in hand came from; `made`: the block was there before it.
void FunctionRun::note_results(const std::vector<State>& after, std::size_t from,
                               std::uint32_t index, bool made) {
  Grounds grounds = kOnForeign;
  const Operation& o = body_.operations[index];
  if (o.op == Op::call && o.a.kind() == OperandKind::symbol) {
    const ValueId callee = value({}, o.a);
    const ObjectId object{values_[callee].number};
    if (object.kind() == ObjectKind::function) {
      const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(object.index()));
      grounds = symbol.function ? kOnCallee : library_.find(symbol.name) ? kOnLibrary : kOnForeign;
    }
  }
  if (made) grounds |= kOnLater;
  for (std::size_t i = from; i < after.size(); ++i) {
    const ValueId result = after[i].result(index);
    if (result == kNoValue || values_.is_integer(result)) continue;
    came_from_.emplace(result.index, grounds);
  }
}

// What was read has no name that says where from.
void FunctionRun::note_load(ValueId from, ValueId what) {
  const ValueKind kind = values_[what].kind;
  if (kind != ValueKind::fresh && kind != ValueKind::merge && kind != ValueKind::reach) return;
  if (came_from_.contains(what.index)) return;
  const ValueId root = values_.root(from);
  Grounds grounds = kOnUnknown;
  if (const auto known = came_from_.find(root.index); known != came_from_.end()) {
    grounds = known->second | kOnField;
  } else if (values_[root].kind == ValueKind::param) {
    grounds |= kOnField;
  } else if (values_[root].kind == ValueKind::object) {
    grounds |= global_of(root) != kNotParked ? kOnGlobal : kOnLocal;
  }
  came_from_.emplace(what.index, grounds);
}

Grounds FunctionRun::grounds_of(ValueId id, int depth) const {
  constexpr int kDeepest = 6;
  if (depth > kDeepest || id == kNoValue) return kOnUnknown;
  if (const auto known = came_from_.find(id.index); known != came_from_.end()) {
    return known->second;
  }
  const Value& v = values_[id];
  switch (v.kind) {
    case ValueKind::integer:
    case ValueKind::object:
      return 0;
    case ValueKind::param:
      return kOnArgument;
    case ValueKind::cell: {
      const ValueId root = values_.root(id);
      if (values_[root].kind == ValueKind::param) return kOnField;
      if (global_of(root) != kNotParked) return kOnGlobal;
      const auto known = came_from_.find(root.index);
      return known == came_from_.end() ? kOnUnknown : known->second | kOnField;
    }
    case ValueKind::binary:
    case ValueKind::compare:
    case ValueKind::index:
      return grounds_of(v.a, depth + 1) | grounds_of(v.b, depth + 1);
    case ValueKind::cast:
    case ValueKind::pointer:
      return grounds_of(v.a, depth + 1);
    default:
      return kOnUnknown;
  }
}

}  // namespace plumb::check
