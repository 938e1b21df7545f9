#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

void FunctionRun::mark(const State& state, std::vector<ValueId> work,
                       std::vector<std::uint32_t>& reached) const {
  std::vector<ValueId> done;
  while (!work.empty()) {
    const ValueId next = work.back();
    work.pop_back();
    if (next == kNoValue || std::find(done.begin(), done.end(), next) != done.end()) continue;
    done.push_back(next);
    const Value& v = values_[next];
    std::uint32_t object = 0;
    if (values_.is_heap(next, object)) {
      if (std::find(reached.begin(), reached.end(), object) == reached.end())
        reached.push_back(object);
    }
    switch (v.kind) {
      case ValueKind::pointer:
      case ValueKind::index:
      case ValueKind::cast:
      case ValueKind::cell:
      case ValueKind::reach:
        work.push_back(v.a);
        break;
      case ValueKind::binary:
        work.push_back(v.a);
        work.push_back(v.b);
        break;
      default:
        break;
    }
    for (const Cell& cell : state.cells) {
      // Elements of an array belong to the array.
      if (cell.base == next || (values_[cell.base].kind == ValueKind::index &&
                                values_.place(values_[cell.base].a).base == next)) {
        work.push_back(cell.value);
      }
    }
  }
}

void FunctionRun::check_lost(State& state, std::uint32_t index, LossKind kind, ValueId kept) {
  if (state.heap.empty()) return;
  std::vector<ValueId> roots = state.vars;
  for (const auto& [operation, value] : state.results) roots.push_back(value);
  for (const Cell& cell : state.cells) {
    std::uint32_t object = 0;
    if (!values_.is_heap(cell.base, object)) roots.push_back(cell.value);
  }
  roots.push_back(kept);
  std::vector<std::uint32_t> reached;
  mark(state, std::move(roots), reached);
  std::vector<HeapBlock> lost;
  for (const HeapBlock& block : state.heap) {
    if (std::find(reached.begin(), reached.end(), block.object) == reached.end())
      lost.push_back(block);
  }
  if (lost.empty()) return;
  // A block that another lost one holds is lost with it, not by itself.
  std::vector<std::uint32_t> held;
  for (const HeapBlock& block : lost) {
    const ValueId base = values_.object(ObjectId::of(ObjectKind::heap, block.object));
    std::vector<ValueId> below;
    for (const Cell& cell : state.cells) {
      if (cell.base == base) below.push_back(cell.value);
    }
    std::vector<std::uint32_t> under;
    mark(state, below, under);
    for (const std::uint32_t object : under) {
      if (object != block.object) held.push_back(object);
    }
  }
  for (const HeapBlock& block : lost) {
    const bool indirect = std::find(held.begin(), held.end(), block.object) != held.end();
    if (!indirect) {
      candidates_->push_back({id_.index, origins_[block.origin], index, kind, lost_holder_,
                              state.trail, state.merged});
    }
    state.forget_heap(block.object);
  }
}

}  // namespace plumb::check
