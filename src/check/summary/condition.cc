#include <algorithm>
#include <utility>

#include "check/summary/function_run.h"

namespace plumb::check {

namespace {

constexpr std::int64_t kFirstPage = 4096;
constexpr std::int64_t kTerabyte = std::int64_t{1} << 40;

// What a number has room for beside another: SIZE_MAX - n, INT_MAX - n. Two lengths that
// do not fit in it together are more than there is memory for, or than objects have.
bool is_room_beside(const Values& values, ValueId id) {
  const Value& v = values[id];
  if (v.kind != ValueKind::binary || v.code != Code::sub || v.width < 4) return false;
  if (!values.is_integer(v.a) || values.is_integer(v.b)) return false;
  const std::int64_t most = values[v.a].number;
  const bool all = most == -1 || most == INT64_MAX;
  return v.width >= 8 ? all || most >= kTerabyte : all || most == INT32_MAX || most == UINT32_MAX;
}

// A bound that no size of a program that works comes near: SIZE_MAX / n and its like.
bool is_beyond_memory(const Values& values, ValueId id) {
  const Value& v = values[id];
  if (v.kind == ValueKind::integer) return v.number >= kTerabyte || v.number < -kFirstPage * 1024;
  if (is_room_beside(values, id)) return true;
  if (v.kind != ValueKind::binary || v.code != Code::div_u) return false;
  const Value& of = values[v.a];
  return of.kind == ValueKind::integer && (of.number < 0 || of.number >= kTerabyte);
}

// 1 or 0 when one side of a comparison of sizes is such a bound, else -1.
int compare_with_memory(const Values& values, const Value& v) {
  const bool room_a = is_room_beside(values, v.a);
  const bool room_b = is_room_beside(values, v.b);
  const bool a = room_a || (v.width >= 8 && is_beyond_memory(values, v.a));
  const bool b = room_b || (v.width >= 8 && is_beyond_memory(values, v.b));
  if (a == b) return -1;
  const bool of_room = room_a || room_b;
  switch (v.code) {
    case Code::lt_s:
    case Code::le_s:
      return !of_room ? -1 : b ? 1 : 0;
    case Code::gt_s:
    case Code::ge_s:
      return !of_room ? -1 : a ? 1 : 0;
    case Code::lt_u:
    case Code::le_u:
      return b ? 1 : 0;
    case Code::gt_u:
    case Code::ge_u:
      return a ? 1 : 0;
    default:
      return -1;
  }
}

}  // namespace

// With --oom a block other than the followed one may not have come.
bool FunctionRun::may_have_failed(ValueId id) const {
  return limits_.oom && id != focus_ && values_[id].kind == ValueKind::object &&
         values_.is_heap(id);
}

// The same for one of which the fact was looked up already.
bool FunctionRun::is_nonzero(const State& state, ValueId id, const Fact& known) const {
  if (known.nonzero) return true;
  switch (values_[id].kind) {
    case ValueKind::object:
    case ValueKind::element:
    case ValueKind::pointer:
    case ValueKind::index:
    case ValueKind::binary:
    case ValueKind::cast:
      return is_nonzero(state, id);
    default:
      return false;
  }
}

bool FunctionRun::is_nonzero(const State& state, ValueId id) const {
  const Value v = values_[id];
  switch (v.kind) {
    case ValueKind::integer:
      return v.number != 0;
    case ValueKind::object:
      return !may_have_failed(id) || state.fact(values_, id).nonzero;
    case ValueKind::element:
      return true;
    case ValueKind::pointer:
    case ValueKind::index:
      return is_nonzero(state, v.a) || (v.number > 0 && v.number < 4096);
    case ValueKind::binary:
      // Sizes that are doubled do not wrap around in programs that work.
      if (state.fact(values_, id).nonzero) return true;
      if (v.code == Code::mul) return is_nonzero(state, v.a) && is_nonzero(state, v.b);
      if (v.code == Code::shl) return is_nonzero(state, v.a);
      if (v.code == Code::bit_or) return is_nonzero(state, v.a) || is_nonzero(state, v.b);
      return false;
    case ValueKind::cast:
      return state.fact(values_, id).nonzero ||
             (v.code != Code::truncate && is_nonzero(state, v.a));
    default:
      return state.fact(values_, id).nonzero;
  }
}

// Objects are told apart by identity; a block that this path allocated is none
// of the caller's.
int FunctionRun::decide(const State& state, ValueId condition) {
  const Value v = values_[condition];
  if (v.kind == ValueKind::integer) return v.number != 0 ? 1 : 0;
  if (v.kind == ValueKind::compare &&
      (values_[v.a].kind == ValueKind::reach || values_[v.b].kind == ValueKind::reach)) {
    return -1;
  }
  const Fact truth = state.fact(values_, condition);
  if (truth.nonzero || truth.low > 0) return 1;
  if (truth.low == 0 && truth.high == 0) return 0;
  if (v.kind == ValueKind::binary && v.code == Code::bit_xor && values_.is_integer(v.b) &&
      (values_[v.b].number & 1) && v.width <= 1) {
    const int inner = decide(state, v.a);
    return inner < 0 ? -1 : 1 - inner;
  }
  if (v.kind != ValueKind::compare) return -1;
  if (!limits_.oom) {
    if (const int sized = compare_with_memory(values_, v); sized >= 0) return sized;
  }
  if (v.code == Code::eq || v.code == Code::ne) {
    const int equal = v.code == Code::eq ? 1 : 0;
    if (values_.is_zero(v.b) && is_nonzero(state, v.a)) return 1 - equal;
    if (const int ends = is_loop_over(state, v.a, v.b); ends >= 0)
      return ends == 1 ? equal : 1 - equal;
    const ValueId base_a = values_.place(v.a).base;
    const ValueId base_b = values_.place(v.b).base;
    const Value a = values_[base_a];
    const Value b = values_[base_b];
    const auto is_heap = [](const Value& x) {
      return x.kind == ValueKind::object && ObjectId{x.number}.kind() == ObjectKind::heap;
    };
    if (a.kind == ValueKind::object && b.kind == ValueKind::object && base_a != base_b)
      return 1 - equal;
    // No block is at an address that a program writes down, except the one that did not
    // come.
    const bool failed = values_.is_zero(v.b) && may_have_failed(v.a);
    if (!failed && (is_heap(a) || is_heap(b))) return base_a == base_b ? -1 : 1 - equal;
    // Nor is what lies in one block in another, or anywhere else.
    const ValueId in_a = values_.target(v.a);
    const ValueId in_b = values_.target(v.b);
    if (!failed && in_a != in_b && (values_.is_heap(in_a) || values_.is_heap(in_b))) {
      return 1 - equal;
    }
  }
  if (values_.is_integer(v.b)) {
    Fact fact = state.fact(values_, v.a);
    // A descriptor is a handle when it is not negative.
    if (values_.is_heap(v.a) && is_nonzero(state, v.a))
      fact.low = std::max<std::int64_t>(fact.low, 1);
    const std::int64_t n = values_[v.b].number;
    switch (v.code) {
      case Code::eq:
      case Code::ne: {
        const int equal = v.code == Code::eq ? 1 : 0;
        if (fact.low == n && fact.high == n) return equal;
        if (n < fact.low || n > fact.high || (n == 0 && fact.nonzero)) return 1 - equal;
        break;
      }
      case Code::lt_s:
        if (fact.high < n) return 1;
        if (fact.low >= n) return 0;
        break;
      case Code::le_s:
        if (fact.high <= n) return 1;
        if (fact.low > n) return 0;
        break;
      case Code::gt_s:
        if (fact.low > n) return 1;
        if (fact.high <= n) return 0;
        break;
      case Code::ge_s:
        if (fact.low >= n) return 1;
        if (fact.high < n) return 0;
        break;
      case Code::lt_u:
        if (fact.low >= 0 && fact.high < n && n >= 0) return 1;
        if (fact.low >= n && n >= 0) return 0;
        break;
      case Code::le_u:
        if (fact.low >= 0 && fact.high <= n) return 1;
        if (fact.low > n && n >= 0) return 0;
        break;
      case Code::ge_u:
        if (fact.low >= n && n >= 0) return 1;
        if (fact.low >= 0 && fact.high < n) return 0;
        break;
      case Code::gt_u:
        if (n == 0 && fact.nonzero) return 1;
        if (fact.low > n && n >= 0) return 1;
        if (fact.low >= 0 && fact.high <= n) return 0;
        break;
      default:
        break;
    }
  }
  // The same comparison the other way round.
  if (const Code opposite = negated(v.code); opposite != Code::none) {
    const ValueId other = values_.compare(opposite, v.a, v.b, v.width);
    const Fact fact = state.fact(values_, other);
    if (fact.nonzero || fact.low > 0) return 0;
    if (fact.low == 0 && fact.high == 0) return 1;
  }
  return -1;
}

bool FunctionRun::assume(State& state, ValueId condition, bool truth) {
  const int known = decide(state, condition);
  if (known >= 0) return known == (truth ? 1 : 0);
  const Value v = values_[condition];
  if (v.kind == ValueKind::binary && v.code == Code::bit_xor && v.width <= 1 &&
      values_.is_integer(v.b) && (values_[v.b].number & 1)) {
    return assume(state, v.a, !truth);
  }
  if (v.kind != ValueKind::compare) {
    return state.learn(values_, condition, truth ? Fact{.nonzero = true} : Fact{0, 0, false}) &&
           keep_promise(state, condition);
  }
  if (values_[v.a].kind == ValueKind::reach || values_[v.b].kind == ValueKind::reach) return true;
  const Code code = truth ? v.code : negated(v.code);
  if (!state.learn(values_, condition, truth ? Fact{1, 1, true} : Fact{0, 0, false})) return false;
  if (const int usual = compare_with_memory(values_, v); usual >= 0 && (usual == 1) != truth) {
    state.oom = true;
  }
  if (!values_.is_integer(v.b)) return order(state, code, v.a, v.b);
  const std::int64_t n = values_[v.b].number;
  Fact fact;
  switch (code) {
    case Code::eq:
      fact = {n, n, n != 0};
      break;
    case Code::ne: {
      if (n == 0) fact.nonzero = true;
      // A bound that it is not is one less: what is not -1 is a descriptor.
      const Fact before = state.fact(values_, v.a);
      if (n == before.low && n != INT64_MIN) fact.low = n + 1;
      if (n == before.high && n != INT64_MAX) fact.high = n - 1;
      break;
    }
    case Code::lt_s:
      if (n == INT64_MIN) return false;
      fact.high = n - 1;
      break;
    case Code::le_s:
      fact.high = n;
      break;
    case Code::gt_s:
      if (n == INT64_MAX) return false;
      fact.low = n + 1;
      break;
    case Code::ge_s:
      fact.low = n;
      break;
    case Code::lt_u:
      if (n == 0) return false;
      if (n > 0) fact = {0, n - 1, false};
      break;
    case Code::le_u:
      if (n >= 0) fact = {0, n, false};
      break;
    // What is never negative has the same order with a sign and without.
    case Code::gt_u:
      fact.nonzero = true;
      if (n >= 0 && n < INT64_MAX && state.fact(values_, v.a).low >= 0) fact.low = n + 1;
      break;
    case Code::ge_u:
      if (n > 0) fact.nonzero = true;
      if (n >= 0 && state.fact(values_, v.a).low >= 0) fact.low = n;
      break;
    default:
      break;
  }
  if (fact.low == 0 && fact.high == 0 && may_have_failed(v.a)) state.oom = true;
  return fact.trivial() || (state.learn(values_, v.a, fact) && keep_promise(state, v.a));
}

// What the order of two values says of each, given the range of the other.
bool FunctionRun::order(State& state, Code code, ValueId a, ValueId b) {
  switch (code) {
    case Code::gt_s:
    case Code::ge_s:
    case Code::gt_u:
      std::swap(a, b);
      code = code == Code::gt_s ? Code::lt_s : code == Code::ge_s ? Code::le_s : Code::lt_u;
      break;
    default:
      break;
  }
  if (code == Code::lt_u) return state.learn(values_, b, {.nonzero = true});
  if (code != Code::lt_s && code != Code::le_s) return true;
  const Fact low = state.fact(values_, a);
  const Fact high = state.fact(values_, b);
  const std::int64_t strict = code == Code::lt_s ? 1 : 0;
  if (low.low != INT64_MIN && low.low < INT64_MAX - strict &&
      !state.learn(values_, b, {low.low + strict, INT64_MAX, false})) {
    return false;
  }
  return high.high == INT64_MAX || high.high <= INT64_MIN + strict ||
         state.learn(values_, a, {INT64_MIN, high.high - strict, false});
}

bool FunctionRun::assume_fact(State& state, ValueId value, const Fact& fact) {
  const bool zero = fact.low == 0 && fact.high == 0;
  // No block is at an address that a program writes down.
  const bool written_down = fact.high < kFirstPage && fact.low > -kFirstPage;
  if (written_down && is_nonzero(state, value) && values_.is_heap(values_.target(value))) {
    return false;
  }
  if (zero || fact.nonzero) {
    const ValueId is_zero = values_.compare(Code::eq, value, values_.integer(0), 0);
    if (!assume(state, is_zero, zero)) return false;
  }
  return state.learn(values_, value, fact);
}

}  // namespace plumb::check
