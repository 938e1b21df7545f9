// The destruction of an object of which the class is not known: one of several functions is
// called, which of them is said by the table that the object has in front.
//
// A summary has a case for each table, with the table as its condition, and one for all
// others, of which nothing is known. A caller that made the object knows its table, and so
// which of the cases it is.
//
// Limit: what is lost only if the object is of one of the classes is not followed in the
// function itself; to suppose just that class would be a guess.
#include "check/summary/function_run.h"

namespace plumb::check {

ProgramSymbolId FunctionRun::class_of(const Operation& virtual_call) const {
  const std::uint32_t symbol = virtual_call.b.index();
  return linked_ ? ProgramSymbolId::of(symbol)
                 : program_.resolve(where_.unit, SymbolId::of(symbol));
}

// What is appended to `after` is for the known tables, and `state` is left for the others;
// false: there are no others.
bool FunctionRun::call_virtual(State& state, std::uint32_t index,
                               const std::vector<ValueId>& arguments, ValueId callee,
                               std::vector<State>& after) {
  const Value& slot = values_[callee];
  if (slot.kind != ValueKind::cell || mode_ == Mode::site) return true;
  const ValueId table = slot.a;
  if (values_[table].kind != ValueKind::cell) return true;
  const Operation& o = body_.operations[index];
  for (const Program::Choice& each : program_.choices(class_of(o), o.immediate)) {
    const Summary* summary = known_.find(each.function);
    if (!summary || !summary->known) continue;
    const ValueId global =
        values_.object(ObjectId::of(ObjectKind::global, each.table.global.index));
    const ValueId is =
        values_.compare(Code::eq, table, values_.pointer(global, each.table.offset), 8);
    State hit = state;
    if (assume(hit, is, true)) apply(std::move(hit), index, each.function, arguments, after);
    if (!assume(state, is, false)) return false;
  }
  return true;
}

}  // namespace plumb::check
