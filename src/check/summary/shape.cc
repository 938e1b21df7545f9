#include "check/summary/shape.h"

#include <algorithm>
#include <optional>

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

// Which blocks lead to which: by block, the blocks before it.
std::vector<std::vector<std::uint32_t>> predecessors(const Function& body) {
  std::vector<std::vector<std::uint32_t>> before(body.blocks.size());
  for (std::uint32_t b = 0; b < body.blocks.size(); ++b) {
    if (body.blocks[b].end == body.blocks[b].begin) continue;
    each_target(body, body.operations[body.blocks[b].end - 1],
                [&](BlockIndex to) { before[to.index].push_back(b); });
  }
  return before;
}

constexpr std::uint32_t kNoVar = ~0u;

// By operation: is its result looked at by anything but a temporary that is only
// written? (What a call returns in two words is taken apart and stored there.)
std::vector<bool> looked_at(const Function& body) {
  std::vector<std::uint32_t> into(body.operations.size(), kNoVar);  // the address of, in a variable
  std::vector<bool> read(body.vars.size(), false);
  for (std::size_t v = 0; v < body.vars.size(); ++v) read[v] = !body.vars[v].name.empty();
  const auto var_of = [&](Operand operand) {
    if (operand.kind() == OperandKind::var) return operand.index();
    return operand.kind() == OperandKind::result ? into[operand.index()] : kNoVar;
  };
  const auto note_read = [&](Operand operand) {
    if (const std::uint32_t var = var_of(operand); var != kNoVar) read[var] = true;
  };
  for (std::uint32_t i = 0; i < body.operations.size(); ++i) {
    const Operation& o = body.operations[i];
    if (o.op == Op::offset) into[i] = var_of(o.a);
    const bool writes = o.op == Op::store || o.op == Op::scope_end || o.op == Op::offset;
    if (!writes) note_read(o.a);
    note_read(o.b);
    note_read(o.c);
    if (o.op != Op::call && o.op != Op::phi) continue;
    // A phi's pool is (block, value) pairs.
    const std::uint32_t step = o.op == Op::phi ? 2 : 1;
    for (std::uint32_t p = step - 1; p < o.pool_count; p += step) {
      note_read(body.pool[o.pool_begin + p]);
    }
  }
  std::vector<bool> out(body.operations.size(), false);
  const auto look = [&](Operand operand) {
    if (operand.kind() == OperandKind::result) out[operand.index()] = true;
  };
  for (std::size_t i = body.operations.size(); i-- > 0;) {
    const Operation& o = body.operations[i];
    if (o.op == Op::extract && !out[i]) continue;
    const std::uint32_t to = o.op == Op::store ? var_of(o.a) : kNoVar;
    if (to != kNoVar && !read[to]) continue;
    each_operand(body, o, look);
    for (std::uint32_t p = 1; o.op == Op::phi && p < o.pool_count; p += 2) {
      look(body.pool[o.pool_begin + p]);
    }
  }
  return out;
}

}  // namespace

// Backwards from each read to the store before it.
void Shape::find_live_flags(const Function& body) {
  live_flags.assign(body.blocks.size(), 0);
  if (flags.empty()) return;
  std::vector<std::uint64_t> bit_of(body.vars.size(), 0);
  for (std::size_t i = 0; i < flags.size() && i < 64; ++i) {
    bit_of[flags[i].index] = std::uint64_t{1} << i;
  }
  std::vector<std::uint64_t> set(body.blocks.size(), 0);
  std::vector<std::uint32_t> work;
  for (std::uint32_t b = 0; b < body.blocks.size(); ++b) {
    for (std::uint32_t i = body.blocks[b].begin; i < body.blocks[b].end; ++i) {
      const Operation& o = body.operations[i];
      if (o.op == Op::switch_to && o.a.kind() == OperandKind::result) {
        const Operation& on = body.operations[o.a.index()];
        if (on.op == Op::load && on.a.kind() == OperandKind::var &&
            body.vars[on.a.index()].name.empty()) {
          ways_on |= bit_of[on.a.index()];
        }
      }
      if (o.a.kind() != OperandKind::var) continue;
      const std::uint64_t bit = bit_of[o.a.index()];
      if (o.op == Op::load) {
        live_flags[b] |= bit & ~set[b];
      } else if (o.op == Op::store) {
        set[b] |= bit;
      }
    }
    if (live_flags[b]) work.push_back(b);
  }
  const std::vector<std::vector<std::uint32_t>> before = predecessors(body);
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    for (const std::uint32_t from : before[block]) {
      const std::uint64_t live = live_flags[from] | (live_flags[block] & ~set[from]);
      if (live == live_flags[from]) continue;
      live_flags[from] = live;
      work.push_back(from);
    }
  }
}

// The variable that a return reads, and those that are copied to it.
void Shape::find_returned(const Function& body) {
  returned.assign(body.vars.size(), false);
  const auto read_by = [&](Operand operand) -> std::optional<std::uint32_t> {
    if (operand.kind() != OperandKind::result) return std::nullopt;
    const Operation& from = body.operations[operand.index()];
    if (from.op != Op::load || from.a.kind() != OperandKind::var) return std::nullopt;
    const std::uint32_t var = from.a.index();
    if (!body.vars[var].simple) return std::nullopt;
    return var;
  };
  for (const Operation& o : body.operations) {
    if (o.op != Op::returns || o.width == 0) continue;
    if (const std::optional<std::uint32_t> var = read_by(o.a)) returned[*var] = true;
  }
  const std::vector<bool> last = returned;
  for (const Operation& o : body.operations) {
    if (o.op != Op::store || o.a.kind() != OperandKind::var || !last[o.a.index()]) continue;
    if (const std::optional<std::uint32_t> var = read_by(o.b)) returned[*var] = true;
  }
}

Shape::Shape(const Function& body) {
  const std::size_t operations = body.operations.size();
  const std::size_t blocks = body.blocks.size();
  dies_after.resize(operations);
  crosses.assign(operations, false);
  loop_head.assign(blocks, false);
  loop_end.assign(blocks, 0);
  block_of.assign(operations, 0);
  ignored = looked_at(body);
  ignored.flip();
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
      if (to.index > b) return;
      loop_head[to.index] = true;
      loop_end[to.index] = std::max(loop_end[to.index], b);
    });
  }
  in_loop.assign(blocks, false);
  std::uint32_t end = 0;  // of the loops that were begun, the farthest
  bool inside = false;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    if (inside && b > end) inside = false;
    if (loop_head[b]) {
      end = inside ? std::max(end, loop_end[b]) : loop_end[b];
      inside = true;
    }
    in_loop[b] = inside;
  }
  find_flags(body, flags);
  find_live_flags(body);
  find_returned(body);
  for (std::uint32_t i = 0; i < operations; ++i) {
    if (!crosses[i]) dies_after[last_use[i]].push_back(i);
  }
}

std::vector<std::uint32_t> Shape::distances(const Function& body,
                                            const std::vector<std::uint32_t>& to) const {
  const std::vector<std::vector<std::uint32_t>> before = predecessors(body);
  std::vector<std::uint32_t> out(body.blocks.size(), UINT32_MAX);
  std::vector<std::uint32_t> work;
  for (const std::uint32_t block : to) {
    if (out[block] == 0) continue;
    out[block] = 0;
    work.push_back(block);
  }
  for (std::size_t i = 0; i < work.size(); ++i) {
    for (const std::uint32_t from : before[work[i]]) {
      if (out[from] != UINT32_MAX) continue;
      out[from] = out[work[i]] + 1;
      work.push_back(from);
    }
  }
  return out;
}

bool Shape::leaves(const Function& body, BlockIndex block, std::uint32_t first,
                   std::uint32_t last) {
  bool out = false;
  each_target(body, body.operations[body.blocks[block.index].end - 1],
              [&](BlockIndex to) { out = out || to.index < first || to.index > last; });
  return out;
}

// From each use back to where the result is made. Few results live longer than
// their block, so this costs little.
void Shape::find_live(const Function& body) {
  const std::size_t blocks = body.blocks.size();
  live_in.assign(blocks, {});
  const std::vector<std::vector<std::uint32_t>> before = predecessors(body);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> work;  // result, block it is live into
  const auto use = [&](Operand operand, std::uint32_t block) {
    if (operand.kind() != OperandKind::result || block_of[operand.index()] == block) return;
    work.emplace_back(operand.index(), block);
  };
  for (std::uint32_t i = 0; i < body.operations.size(); ++i) {
    const Operation& o = body.operations[i];
    if (o.op == Op::phi) {
      // Read at the end of the block that it comes from.
      for (std::uint32_t p = 0; p + 1 < o.pool_count; p += 2) {
        use(body.pool[o.pool_begin + p + 1], body.pool[o.pool_begin + p].bits);
      }
    } else {
      each_operand(body, o, [&](Operand operand) { use(operand, block_of[i]); });
    }
  }
  while (!work.empty()) {
    const auto [result, block] = work.back();
    work.pop_back();
    auto& live = live_in[block];
    if (std::find(live.begin(), live.end(), result) != live.end()) continue;
    live.push_back(result);
    for (const std::uint32_t from : before[block]) {
      if (block_of[result] != from) work.emplace_back(result, from);
    }
  }
}

}  // namespace plumb::check
