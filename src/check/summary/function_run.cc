#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

FunctionRun::FunctionRun(const Program& program, const Library& library,
                         const std::vector<Summary>& summaries, FunctionId function,
                         const Limits& limits)
    : program_(program),
      library_(library),
      summaries_(summaries),
      id_(function),
      where_(program.functions()[function.index]),
      body_(*where_.body),
      limits_(limits) {}

namespace {

// Calls `use` for each operand that the operation reads, except those of phis,
// which are read on the edge.
template <typename Use>
void each_operand(const Function& body, const Operation& o, Use use) {
  use(o.a);
  use(o.b);
  use(o.c);
  if (o.op == Op::call) {
    for (std::uint32_t i = 0; i < o.pool_count; ++i) use(body.pool[o.pool_begin + i]);
  }
}

template <typename Visit>
void each_target(const Function& body, const Operation& last, Visit visit) {
  switch (last.op) {
    case Op::jump:
      visit(last.targets[0]);
      break;
    case Op::branch:
    case Op::invoke_end:
      visit(last.targets[0]);
      visit(last.targets[1]);
      break;
    case Op::switch_to:
      visit(last.targets[0]);
      for (std::uint32_t i = 1; i < last.pool_count; i += 2) {
        visit(BlockIndex::of(body.pool[last.pool_begin + i].bits));
      }
      break;
    default:
      break;
  }
}

}  // namespace

void FunctionRun::prepare() {
  const std::size_t operations = body_.operations.size();
  const std::size_t blocks = body_.blocks.size();
  pending_.resize(blocks);
  dies_after_.resize(operations);
  crosses_.assign(operations, false);
  loop_head_.assign(blocks, false);
  changed_in_loop_.resize(blocks);

  block_of_.assign(operations, 0);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (std::uint32_t i = body_.blocks[b].begin; i < body_.blocks[b].end; ++i) block_of_[i] = b;
  }
  std::vector<std::uint32_t> last_use(operations, 0);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (std::uint32_t i = body_.blocks[b].begin; i < body_.blocks[b].end; ++i) {
      const Operation& o = body_.operations[i];
      last_use[i] = std::max(last_use[i], i);
      each_operand(body_, o, [&](Operand operand) {
        if (operand.kind() != OperandKind::result) return;
        if (block_of_[operand.index()] != b) crosses_[operand.index()] = true;
        last_use[operand.index()] = i;
      });
      if (o.op == Op::phi) {
        for (std::uint32_t p = 1; p < o.pool_count; p += 2) {
          const Operand operand = body_.pool[o.pool_begin + p];
          if (operand.kind() == OperandKind::result) crosses_[operand.index()] = true;
        }
      }
    }
    if (body_.blocks[b].end == body_.blocks[b].begin) continue;
    each_target(body_, body_.operations[body_.blocks[b].end - 1], [&](BlockIndex to) {
      if (to.index > b) return;
      loop_head_[to.index] = true;
      for (std::uint32_t i = body_.blocks[to.index].begin; i < body_.blocks[b].end; ++i) {
        const Operation& o = body_.operations[i];
        if (o.op == Op::store && o.a.kind() == OperandKind::var && body_.vars[o.a.index()].simple) {
          changed_in_loop_[to.index].push_back(VarId::of(o.a.index()));
        }
      }
    });
  }
  for (std::uint32_t i = 0; i < operations; ++i) {
    if (!crosses_[i]) dies_after_[last_use[i]].push_back(i);
  }
}

Summary FunctionRun::run(std::vector<Candidate>& candidates) {
  candidates_ = &candidates;
  prepare();
  State start;
  start.vars.assign(body_.vars.size(), kNoValue);
  pending_[0].states.push_back(std::move(start));
  while (true) {
    std::uint32_t next = 0;
    while (next < pending_.size() && pending_[next].states.empty()) ++next;
    if (next == pending_.size()) break;
    if (work_ > limits_.work) {
      summary_.truncated = true;
      break;
    }
    process(BlockIndex::of(next));
  }
  finish_summary();
  return std::move(summary_);
}

void FunctionRun::process(BlockIndex block) {
  Pending& here = pending_[block.index];
  std::vector<State> states = std::move(here.states);
  here.states.clear();
  ++here.visits;
  if (loop_head_[block.index]) {
    if (here.visits > limits_.visits) return;
    if (here.visits > 1) {
      for (State& state : states) widen(block, state);
    }
  }
  limit_states(states);
  const Block& range = body_.blocks[block.index];
  for (std::uint32_t i = range.begin; i + 1 < range.end && !states.empty(); ++i) {
    work_ += states.size();
    const Operation& o = body_.operations[i];
    if (o.op == Op::phi) continue;
    if (o.op == Op::call) {
      std::vector<State> after;
      for (State& state : states) call(std::move(state), i, after);
      states = std::move(after);
      limit_states(states);
    } else {
      for (State& state : states) step(state, i);
    }
    for (const std::uint32_t dead : dies_after_[i]) {
      for (State& state : states) {
        const ValueId old = state.result(dead);
        std::erase_if(state.results, [&](const auto& entry) { return entry.first == dead; });
        std::uint32_t object = 0;
        if (old != kNoValue && values_.is_heap(old, object) && state.find_heap(object)) {
          check_lost(state, i, LossKind::discarded);
        }
      }
    }
  }
  for (State& state : states) finish(block, std::move(state), range.end - 1);
}

void FunctionRun::send(BlockIndex from, BlockIndex to, State state) {
  // All phis of the target read the values of the edge at the same time.
  std::vector<std::pair<std::uint32_t, ValueId>> phis;
  const Block& range = body_.blocks[to.index];
  for (std::uint32_t i = range.begin; i < range.end && body_.operations[i].op == Op::phi; ++i) {
    phis.emplace_back(i, phi(state, body_.operations[i], from));
  }
  std::erase_if(state.results, [&](const auto& entry) { return !crosses_[entry.first]; });
  for (const auto& [index, value] : phis) state.set_result(index, value);
  if (to.index > from.index && loop_head_[to.index]) pending_[to.index].visits = 0;
  pending_[to.index].states.push_back(std::move(state));
}

// The state stands for any later iteration: what the loop changes is unknown,
// except that blocks stay what they are and a walk stays in its structure.
void FunctionRun::widen(BlockIndex block, State& state) {
  for (const VarId var : changed_in_loop_[block.index]) {
    ValueId& value = state.vars[var.index];
    if (value == kNoValue) continue;
    std::uint32_t object = 0;
    if (values_.is_heap(value, object) || values_.is_zero(value)) continue;
    const ValueId root = values_.root(value);
    const ValueKind kind = values_[value].kind;
    const bool walks = kind == ValueKind::cell || kind == ValueKind::reach;
    value = walks && values_[root].kind == ValueKind::param ? values_.reach(root) : values_.fresh();
  }
}

}  // namespace plumb::check
