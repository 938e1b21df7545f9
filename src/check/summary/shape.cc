#include "check/summary/shape.h"

#include <algorithm>

namespace plumb::check {

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

constexpr std::size_t kMostConstants = 8;  // more is a number, not a flag
constexpr std::uint32_t kWidestFlag = 4;

void find_flags(const Function& body, std::vector<VarId>& flags) {
  std::vector<bool> other(body.vars.size(), false);
  std::vector<std::vector<std::uint32_t>> constants(body.vars.size());
  for (const Operation& o : body.operations) {
    if (o.op != Op::store || o.a.kind() != OperandKind::var) continue;
    const std::uint32_t var = o.a.index();
    if (o.b.kind() != OperandKind::integer || o.width > kWidestFlag) {
      other[var] = true;
    } else if (std::find(constants[var].begin(), constants[var].end(), o.b.index()) ==
               constants[var].end()) {
      constants[var].push_back(o.b.index());
    }
  }
  for (std::uint32_t i = 0; i < body.vars.size(); ++i) {
    // Where a cleanup goes on has no name, and as many values as there are jumps.
    const bool few = constants[i].size() <= kMostConstants || body.vars[i].name.empty();
    if (body.vars[i].simple && !other[i] && constants[i].size() > 1 && few) {
      flags.push_back(VarId::of(i));
    }
  }
}

}  // namespace

Shape::Shape(const Function& body) {
  const std::size_t operations = body.operations.size();
  const std::size_t blocks = body.blocks.size();
  dies_after.resize(operations);
  crosses.assign(operations, false);
  loop_head.assign(blocks, false);
  block_of.assign(operations, 0);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (std::uint32_t i = body.blocks[b].begin; i < body.blocks[b].end; ++i) block_of[i] = b;
  }
  std::vector<std::uint32_t> last_use(operations, 0);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const Block& range = body.blocks[b];
    for (std::uint32_t i = range.begin; i < range.end; ++i) {
      const Operation& o = body.operations[i];
      last_use[i] = std::max(last_use[i], i);
      each_operand(body, o, [&](Operand operand) {
        if (operand.kind() != OperandKind::result) return;
        if (block_of[operand.index()] != b) crosses[operand.index()] = true;
        last_use[operand.index()] = i;
      });
      if (o.op != Op::phi) continue;
      for (std::uint32_t p = 1; p < o.pool_count; p += 2) {
        const Operand operand = body.pool[o.pool_begin + p];
        if (operand.kind() == OperandKind::result) crosses[operand.index()] = true;
      }
    }
    if (range.end == range.begin) continue;
    // Blocks are in reverse post-order: a jump back is a loop.
    each_target(body, body.operations[range.end - 1], [&](BlockIndex to) {
      if (to.index <= b) loop_head[to.index] = true;
    });
  }
  find_flags(body, flags);
  for (std::uint32_t i = 0; i < operations; ++i) {
    if (!crosses[i]) dies_after[last_use[i]].push_back(i);
  }
}

}  // namespace plumb::check
