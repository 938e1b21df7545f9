#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

constexpr std::size_t kMostWrites = 40;
constexpr std::size_t kMostGuards = 16;
constexpr std::size_t kMostBlocks = 8;

// Copies values of a run into the table of a summary. What only the run knows
// (its variables, its unknowns) becomes a fresh value.
class Export {
 public:
  Export(const Values& from, Values& to) : from_(from), to_(to), map_(from.size(), kNoValue) {}

  ValueId operator()(ValueId id) {
    if (id == kNoValue) return kNoValue;
    if (map_.size() <= id.index) map_.resize(from_.size(), kNoValue);
    if (map_[id.index] != kNoValue) return map_[id.index];
    const Value v = from_[id];
    ValueId out = kNoValue;
    switch (v.kind) {
      case ValueKind::integer:
        out = to_.integer(v.number);
        break;
      case ValueKind::param:
        out = to_.param(static_cast<std::uint32_t>(v.number));
        break;
      case ValueKind::object:
        out = ObjectId{v.number}.kind() == ObjectKind::var ? to_.fresh()
                                                           : to_.object(ObjectId{v.number});
        break;
      case ValueKind::cell:
        out = to_.cell((*this)(v.a), v.number, v.width);
        break;
      case ValueKind::pointer:
        out = to_.pointer((*this)(v.a), v.number);
        break;
      case ValueKind::index: {
        const ValueId a = (*this)(v.a);
        out = to_.index(a, (*this)(v.b), v.number);
        break;
      }
      case ValueKind::binary: {
        const ValueId a = (*this)(v.a);
        out = to_.binary(v.code, a, (*this)(v.b), v.width);
        break;
      }
      case ValueKind::compare: {
        const ValueId a = (*this)(v.a);
        out = to_.compare(v.code, a, (*this)(v.b), v.width);
        break;
      }
      case ValueKind::cast:
        out = to_.cast(v.code, (*this)(v.a), v.width);
        break;
      case ValueKind::reach:
        out = to_.reach((*this)(v.a));
        break;
      case ValueKind::fresh:
      case ValueKind::none:
        out = to_.fresh();
        break;
    }
    map_[id.index] = out;
    return out;
  }

 private:
  const Values& from_;
  Values& to_;
  std::vector<ValueId> map_;
};

// True when the value says something about what the caller passed in.
bool about_input(const Values& values, ValueId id) {
  const Value& v = values[id];
  switch (v.kind) {
    case ValueKind::param:
      return true;
    case ValueKind::cell:
    case ValueKind::pointer:
    case ValueKind::cast:
      return about_input(values, v.a);
    case ValueKind::object:
      return ObjectId{v.number}.kind() == ObjectKind::global;
    case ValueKind::binary:
    case ValueKind::compare:
      return about_input(values, v.a) && (values.is_integer(v.b) || about_input(values, v.b));
    default:
      return false;
  }
}

bool is_input_place(const Values& values, ValueId base) {
  const Value& root = values[values.root(base)];
  return root.kind == ValueKind::param ||
         (root.kind == ValueKind::object && ObjectId{root.number}.kind() == ObjectKind::global);
}

}  // namespace

void FunctionRun::add_case(State& state, std::uint32_t index, bool throws) {
  const Operation& o = body_.operations[index];
  Case out;
  out.throws = throws;
  ValueId result = kNoValue;
  if (!throws && o.op == Op::returns && o.width) result = value(state, o.a);

  // The variables end here; what only they held is lost.
  for (std::size_t i = 0; i < state.vars.size(); ++i) {
    std::uint32_t object = 0;
    if (state.vars[i] != kNoValue && values_.is_heap(state.vars[i], object)) {
      lost_holder_ = body_.vars[i].name;
    }
    state.vars[i] = kNoValue;
  }
  state.results.clear();
  std::erase_if(state.cells, [&](const Cell& cell) {
    const Value& root = values_[values_.root(cell.base)];
    return root.kind == ValueKind::object && ObjectId{root.number}.kind() == ObjectKind::var;
  });
  check_lost(state, index, throws ? LossKind::thrown : LossKind::returned, result);

  out.result = result;
  for (const auto& [about, fact] : state.facts) {
    if (about_input(values_, about) && out.guards.size() < kMostGuards)
      out.guards.push_back({about, fact});
  }
  for (const Cell& cell : state.cells) {
    if (cell.offset == INT64_MIN) continue;
    std::uint32_t object = 0;
    const bool of_block = values_.is_heap(cell.base, object) && state.find_heap(object);
    if (!of_block) {
      if (!is_input_place(values_, cell.base)) continue;
      const Value& v = values_[cell.value];
      const bool unchanged =
          v.kind == ValueKind::cell && v.a == cell.base && v.number == cell.offset;
      if (unchanged) continue;
    }
    if (out.writes.size() < kMostWrites) out.writes.push_back(cell);
  }
  out.freed = state.freed;
  out.escaped = state.escaped;
  for (const HeapBlock& block : state.heap) {
    if (out.blocks.size() == kMostBlocks) break;
    out.blocks.push_back({block.object, block.origin, "malloc", block.maybe_null});
  }
  cases_.emplace_back(state, std::move(out));
}

void FunctionRun::finish_summary() {
  summary_.known = !summary_.truncated;
  summary_.origins = origins_;
  // Cases that differ only in their guards are one.
  std::vector<Case> kept;
  for (auto& [state, next] : cases_) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Case& k) {
      return k.throws == next.throws && k.result == next.result && k.writes == next.writes &&
             k.freed == next.freed && k.escaped == next.escaped &&
             k.blocks.size() == next.blocks.size() &&
             std::equal(k.blocks.begin(), k.blocks.end(), next.blocks.begin(),
                        [](const NewBlock& a, const NewBlock& b) { return a.object == b.object; });
    });
    if (same == kept.end()) {
      kept.push_back(std::move(next));
      continue;
    }
    std::vector<Guard> both;
    for (const Guard& guard : same->guards) {
      const auto other = std::find_if(next.guards.begin(), next.guards.end(),
                                      [&](const Guard& g) { return g.value == guard.value; });
      if (other == next.guards.end()) continue;
      both.push_back(
          {guard.value,
           {std::min(guard.fact.low, other->fact.low), std::max(guard.fact.high, other->fact.high),
            guard.fact.nonzero && other->fact.nonzero}});
    }
    same->guards = std::move(both);
  }
  if (kept.size() > limits_.cases) {
    summary_.truncated = true;
    summary_.known = false;
    kept.clear();
  }
  Export to_summary(values_, summary_.values);
  for (Case& each : kept) {
    each.result = to_summary(each.result);
    for (Guard& guard : each.guards) guard.value = to_summary(guard.value);
    for (Cell& cell : each.writes) {
      cell.base = to_summary(cell.base);
      cell.value = to_summary(cell.value);
    }
    for (ValueId& value : each.freed) value = to_summary(value);
    for (ValueId& value : each.escaped) value = to_summary(value);
    summary_.cases.push_back(std::move(each));
  }
}

}  // namespace plumb::check
