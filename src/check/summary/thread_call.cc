// A thread that is started: as if its function were called there and then.
//
// What it does to memory that both see happens before the starter goes on: for what becomes
// of a block, when it happens matters little. What it returns is what the thread is called
// by (the pthread_t), until somebody joins it. That is done where the function is known,
// comes to its end, and frees nothing but what it is given: one that takes blocks out of
// what it is given may get them later. Else its argument goes out of sight.
#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

constexpr std::uint32_t kWord = 8;

}  // namespace

const Summary* FunctionRun::thread_function(ValueId function, FunctionId& id) const {
  const Value v = values_[function];
  if (v.kind != ValueKind::object || ObjectId{v.number}.kind() != ObjectKind::function) {
    return nullptr;
  }
  const ProgramSymbol& symbol = program_.symbol(ProgramSymbolId::of(ObjectId{v.number}.index()));
  if (!symbol.function) return nullptr;
  id = *symbol.function;
  const Summary* summary = known_.find(id);
  const bool ends = summary && summary->known && summary->complete && summary->effect.returns &&
                    summary->effect.throws.empty();
  if (!ends || known_.is_own(id)) return nullptr;
  const bool takes_more = std::ranges::any_of(summary->inputs, [&](const Input& input) {
    return summary->values[input.value].kind != ValueKind::param ||
           std::ranges::any_of(input.cases,
                               [](const Case& each) { return each.fate != Fate::freed; });
  });
  return takes_more ? nullptr : summary;
}

// False: nobody knows what the thread does. The argument is given up then.
bool FunctionRun::run_thread(State& state, std::uint32_t index, const LibraryModel& model,
                             const std::vector<ValueId>& arguments, std::vector<State>& after) {
  const auto place = static_cast<std::size_t>(model.calls);
  if (place + 1 >= arguments.size()) return false;
  const ValueId argument = arguments[place + 1];
  FunctionId id;
  if (!thread_function(arguments[place], id)) {
    escape(state, argument);
    // What is put there later, the thread may take as well.
    const ValueId shared = values_.target(argument);
    if (values_[shared].kind == ValueKind::object) state.give(shared);
    return false;
  }
  // It could not be started.
  if (!starting_ && !shape_.ignored[index]) {
    State failed = state;
    escape(failed, argument);
    const ValueId status = values_.fresh();
    failed.learn(values_, status, {.nonzero = true});
    failed.set_result(index, status);
    after.push_back(std::move(failed));
  }
  std::vector<State> ran;
  apply(std::move(state), index, id, {argument}, ran);
  for (State& each : ran) {
    const auto result =
        std::ranges::find(each.results, index, &std::pair<std::uint32_t, ValueId>::first);
    if (result != each.results.end() && values_.is_heap(values_.target(result->second))) {
      store(each, arguments[0], kWord, result->second);
    }
    each.set_result(index, values_.integer(0));
    after.push_back(std::move(each));
  }
  return true;
}

void FunctionRun::join_thread(State& state, std::uint32_t index, ValueId thread, ValueId to) {
  const bool known = values_.is_heap(values_.target(thread));
  if (!values_.is_zero(to)) store(state, to, kWord, known ? thread : values_.fresh());
  if (!known) return;
  // The thread is gone: what it was called by is no reference any more.
  const Operand handle = body_.pool[body_.operations[index].pool_begin];
  if (handle.kind() != OperandKind::result) return;
  const Operation& read = body_.operations[handle.index()];
  if (read.op == Op::load && read.a.kind() == OperandKind::var) {
    store(state, value(state, read.a), kWord, values_.fresh());
  }
}

}  // namespace plumb::check
