// A free on a condition that nothing on the path decides.
//
// `if (!context->pool) free(name);` tells whose the name is: the program's own when there is
// no pool. Where it was made, another structure may have said so, which has the same pool;
// that the two agree is in no code that one path shows. So a block is not taken to be spared
// there by the mere supposition that a field has the other value. A field that the path knows
// something of decides as it would anywhere else, and so does a parameter or a status: they
// may be anything.
//
// `if (--text->count == 0) free(text);` is the same with a count of references in the block
// itself: when the path does not know it, that it is not zero says that others have the block.
#include <algorithm>

#include "check/summary/function_run.h"

namespace plumb::check {

namespace {

constexpr unsigned kMostQuestions = 2;         // behind the first
constexpr std::uint32_t kMostOperations = 16;  // of a block that does nothing but free

// Is what is asked for read out of a local structure, of which this function has the fields?
bool is_read_locally(const Function& body, Operand asked) {
  constexpr int kDeepest = 8;
  bool loaded = false;
  for (int i = 0; i < kDeepest && asked.kind() == OperandKind::result; ++i) {
    const Operation& o = body.operations[asked.index()];
    if (o.op == Op::load) {
      if (loaded) return false;
      loaded = true;
    } else if (o.op == Op::call || o.op == Op::phi) {
      return false;
    }
    asked = o.a;
  }
  return asked.kind() == OperandKind::var && !body.vars[asked.index()].simple;
}

}  // namespace

// Does the value say something of a field of an object that is not the followed block?
bool FunctionRun::tells_of_field(ValueId id) const {
  const Value& v = values_[id];
  switch (v.kind) {
    case ValueKind::cell:
      return values_[v.a].kind != ValueKind::object && values_.target(v.a) != focus_;
    case ValueKind::cast:
      return tells_of_field(v.a);
    case ValueKind::binary:
    case ValueKind::compare:
      return (tells_of_field(v.a) && (values_.is_integer(v.b) || tells_of_field(v.b))) ||
             (values_.is_integer(v.a) && tells_of_field(v.b));
    default:
      return false;
  }
}

// Is the condition whether a number that the followed block has, one less than it was, is zero?
bool FunctionRun::tells_of_count(const State& state, ValueId condition) const {
  ValueId id = condition;
  if (values_[id].kind == ValueKind::compare) {
    if (!values_.is_zero(values_[id].b)) return false;
    id = values_[id].a;
  }
  const Value& less = values_[id];
  const bool lowered = (less.kind == ValueKind::pointer && less.number == -1) ||
                       (less.kind == ValueKind::binary && values_.is_integer(less.b) &&
                        ((less.code == Code::add && values_[less.b].number == -1) ||
                         (less.code == Code::sub && values_[less.b].number == 1)));
  if (!lowered || values_.is_integer(less.a)) return false;
  return std::ranges::any_of(state.cells, [&](const Cell& cell) {
    return cell.value == id && values_.target(cell.base) == focus_;
  });
}

bool FunctionRun::frees_argument(ValueId callee, std::size_t argument) const {
  const Value& v = values_[callee];
  if (v.kind != ValueKind::object || ObjectId{v.number}.kind() != ObjectKind::function) {
    return false;
  }
  const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(ObjectId{v.number}.index()));
  if (!symbol.function) {
    const LibraryModel* model = library_.find(symbol.name);
    return model && argument < 32 && (model->frees >> argument & 1) != 0;
  }
  const Summary* summary = known_.find(*symbol.function);
  if (!summary || !summary->known) return false;
  return std::ranges::any_of(summary->inputs, [&](const Input& input) {
    const Value& given = summary->values[input.value];
    return given.kind == ValueKind::param && given.number == static_cast<std::int64_t>(argument) &&
           std::ranges::any_of(input.cases,
                               [](const Case& each) { return each.fate == Fate::freed; });
  });
}

// Does the block `frees` free the followed block, and nothing else, before it comes to `on`?
bool FunctionRun::presumes_spared(const State& state, Operand asked, BlockIndex frees,
                                  BlockIndex on) {
  if (mode_ != Mode::site || state.fate != Fate::live) return false;
  const ValueId condition = value(state, asked);
  if (!tells_of_count(state, condition) &&
      (!tells_of_field(condition) || is_read_locally(body_, asked))) {
    return false;
  }
  State probe = state;
  // `if (--t->count == 0 && t != &none) free(t);` asks once more, what is known.
  for (unsigned asked_more = 0; asked_more <= kMostQuestions; ++asked_more) {
    const Block& range = body_.blocks[frees.index];
    if (range.end - range.begin > kMostOperations) return false;
    const Operation& last = body_.operations[range.end - 1];
    if (last.op == Op::jump) return last.targets[0].index == on.index && frees_focus(probe, range);
    if (last.op != Op::branch) return false;
    for (std::uint32_t i = range.begin; i + 1 < range.end; ++i) {
      if (!follow_plainly(probe, i)) return false;
    }
    const int known = decide(probe, value(probe, last.a));
    if (known < 0) return false;
    frees = last.targets[known == 1 ? 0 : 1];
  }
  return false;
}

// Runs an operation that changes nothing. False: it is another one.
bool FunctionRun::follow_plainly(State& state, std::uint32_t index) {
  const Operation& o = body_.operations[index];
  if (o.op == Op::load) {
    state.set_result(index, load_whole(state, value(state, o.a), o.width));
  } else if (o.op == Op::offset) {
    state.set_result(index, values_.pointer(value(state, o.a), o.immediate));
  } else if (o.op == Op::compare) {
    state.set_result(index, values_.compare(o.code, value(state, o.a), value(state, o.b), o.width));
  } else {
    return false;
  }
  return true;
}

// Is the first call in the block one that frees the followed block?
bool FunctionRun::frees_focus(State& state, const Block& range) {
  for (std::uint32_t i = range.begin; i + 1 < range.end; ++i) {
    const Operation& o = body_.operations[i];
    if (o.op == Op::phi) return false;
    if (follow_plainly(state, i) || o.op != Op::call) continue;
    const std::vector<ValueId> arguments = arguments_of(state, o);
    const auto own = std::ranges::find_if(arguments, [&](ValueId each) { return each == focus_; });
    return own != arguments.end() &&
           frees_argument(value(state, o.a), static_cast<std::size_t>(own - arguments.begin()));
  }
  return false;
}

}  // namespace plumb::check
