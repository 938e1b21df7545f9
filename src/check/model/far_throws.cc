#include "check/model/far_throws.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace plumb::check {

namespace {

constexpr std::string_view kThrow = "__cxa_throw";

// The operations by which the function itself throws.
std::vector<std::uint32_t> throws_of(const Program& program, const ProgramFunction& function) {
  std::vector<std::uint32_t> out;
  const std::vector<Operation>& operations = function.body->operations;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const Operation& o = operations[i];
    if (o.op != Op::call || o.a.kind() != OperandKind::symbol) continue;
    const ProgramSymbolId callee = program.resolve(function.unit, SymbolId::of(o.a.index()));
    if (program.symbol(callee).name == kThrow) out.push_back(i);
  }
  return out;
}

}  // namespace

void forget_far_throws(Program& program, const FarThrows& limits) {
  const std::size_t functions = program.functions().size();
  const std::size_t most = std::max(limits.callers, functions / limits.share);
  std::vector<std::pair<FunctionId, std::vector<std::uint32_t>>> throwers;
  for (std::uint32_t f = 0; f < functions; ++f) {
    std::vector<std::uint32_t> throws = throws_of(program, program.functions()[f]);
    if (!throws.empty()) throwers.emplace_back(FunctionId::of(f), std::move(throws));
  }
  if (throwers.empty() || functions < most) return;

  std::vector<std::vector<std::uint32_t>> callers(functions);
  for (std::uint32_t f = 0; f < functions; ++f) {
    for (const FunctionId callee : program.callees(FunctionId::of(f))) {
      callers[callee.index].push_back(f);
    }
  }
  std::vector<std::uint32_t> reached(functions, 0);  // by the thrower of this number, from 1
  std::uint32_t number = 0;
  for (const auto& [thrower, throws] : throwers) {
    ++number;
    std::vector<std::uint32_t> work{thrower.index};
    reached[thrower.index] = number;
    std::size_t count = 0;
    while (!work.empty() && count < most) {
      const std::uint32_t next = work.back();
      work.pop_back();
      for (const std::uint32_t caller : callers[next]) {
        if (reached[caller] == number) continue;
        reached[caller] = number;
        ++count;
        work.push_back(caller);
      }
    }
    if (count < most) continue;
    for (const std::uint32_t operation : throws) program.forget_throw(thrower, operation);
  }
}

}  // namespace plumb::check
