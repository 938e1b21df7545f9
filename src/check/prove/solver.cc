#include "check/prove/solver.h"

#include <string>
#include <unordered_map>
#include <vector>

#include <z3++.h>

namespace plumb::check {

namespace {

constexpr unsigned kBits = 64;
constexpr std::size_t kMostValues = 4000;  // of one query

class Encoder {
 public:
  Encoder(const Values& values, z3::context& context, z3::solver& solver)
      : values_(values), context_(context), solver_(solver) {}

  bool too_large() const { return made_.size() > kMostValues; }

  // A block that did not come is at no address of its own.
  void add_failed(ValueId block) { made_.emplace(block.index, number(0)); }

  void add(ValueId value, const Fact& fact) {
    const Value& v = values_[value];
    if (v.kind == ValueKind::compare) {
      const z3::expr holds = truth(v);
      if (fact.nonzero || fact.low > 0) solver_.add(holds);
      if (fact.low == 0 && fact.high == 0) solver_.add(!holds);
      return;
    }
    const z3::expr x = encode(value);
    if (fact.low != INT64_MIN) solver_.add(x >= number(fact.low));
    if (fact.high != INT64_MAX) solver_.add(x <= number(fact.high));
    if (fact.nonzero) solver_.add(x != number(0));
  }

 private:
  z3::expr number(std::int64_t n) { return context_.bv_val(n, kBits); }

  z3::expr unknown(ValueId id) {
    return context_.bv_const(("v" + std::to_string(id.index)).c_str(), kBits);
  }

  // The low bytes, sign-extended.
  z3::expr cut(const z3::expr& x, std::uint32_t bytes) {
    if (bytes == 0 || bytes >= 8) return x;
    return z3::sext(x.extract(bytes * 8 - 1, 0), kBits - bytes * 8);
  }

  std::uint32_t width_of(const Value& v) const {
    switch (v.kind) {
      case ValueKind::cell:
      case ValueKind::binary:
      case ValueKind::cast:
        return v.width;
      case ValueKind::compare:
        return 1;
      default:
        return 0;
    }
  }

  z3::expr truth(const Value& v) {
    z3::expr a = encode(v.a);
    z3::expr b = encode(v.b);
    if (v.width != 0 && v.width < 8) {
      a = a.extract(v.width * 8 - 1, 0);
      b = b.extract(v.width * 8 - 1, 0);
    }
    switch (v.code) {
      case Code::eq:
        return a == b;
      case Code::ne:
        return a != b;
      case Code::lt_s:
        return a < b;
      case Code::le_s:
        return a <= b;
      case Code::gt_s:
        return a > b;
      case Code::ge_s:
        return a >= b;
      case Code::lt_u:
        return z3::ult(a, b);
      case Code::le_u:
        return z3::ule(a, b);
      case Code::gt_u:
        return z3::ugt(a, b);
      case Code::ge_u:
        return z3::uge(a, b);
      default:
        return context_.bool_const("any");
    }
  }

  z3::expr binary(ValueId id, const Value& v) {
    const z3::expr a = encode(v.a);
    const z3::expr b = encode(v.b);
    const bool by_number = values_.is_integer(v.b) && values_[v.b].number > 0;
    switch (v.code) {
      case Code::add:
        return cut(a + b, v.width);
      case Code::sub:
        return cut(a - b, v.width);
      case Code::mul:
        return cut(a * b, v.width);
      case Code::bit_and:
        return a & b;
      case Code::bit_or:
        return a | b;
      case Code::bit_xor:
        return a ^ b;
      case Code::shl:
        return by_number ? cut(z3::shl(a, b), v.width) : unknown(id);
      case Code::shr_s:
        return by_number ? z3::ashr(a, b) : unknown(id);
      case Code::shr_u:
        if (!by_number) return unknown(id);
        if (v.width == 0 || v.width >= 8) return z3::lshr(a, b);
        // A positive shift leaves the sign bit clear.
        return z3::lshr(z3::zext(a.extract(v.width * 8 - 1, 0), kBits - v.width * 8), b);
      case Code::div_u:
        return by_number && v.width >= 8 ? z3::udiv(a, b) : unknown(id);
      default:
        return unknown(id);
    }
  }

  z3::expr make(ValueId id, const Value& v) {
    switch (v.kind) {
      case ValueKind::integer:
        return number(v.number);
      case ValueKind::object:
        return number(static_cast<std::int64_t>(id.index + 1) << 32);
      case ValueKind::pointer:
        return encode(v.a) + number(v.number);
      case ValueKind::index:
        return encode(v.a) + encode(v.b) * number(v.number);
      case ValueKind::binary:
        return binary(id, v);
      case ValueKind::compare:
        return z3::ite(truth(v), number(1), number(0));
      case ValueKind::cast: {
        const std::uint32_t from = width_of(values_[v.a]);
        const z3::expr a = encode(v.a);
        if (v.code == Code::truncate) return cut(a, v.width);
        if (from == 0 || from >= 8) return a;
        if (v.code == Code::zero_extend) {
          return z3::zext(a.extract(from * 8 - 1, 0), kBits - from * 8);
        }
        return cut(a, from);
      }
      case ValueKind::cell:
        return cut(unknown(id), v.width);
      default:
        return unknown(id);
    }
  }

  z3::expr encode(ValueId id) {
    const auto at = made_.find(id.index);
    if (at != made_.end()) return at->second;
    // Values nest a few levels at most by design; what nests deeper is cut off.
    if (++depth_ > kDeepest) {
      --depth_;
      return unknown(id);
    }
    const z3::expr out = make(id, values_[id]);
    --depth_;
    made_.emplace(id.index, out);
    return out;
  }

  static constexpr int kDeepest = 200;
  const Values& values_;
  z3::context& context_;
  z3::solver& solver_;
  std::unordered_map<std::uint32_t, z3::expr> made_;
  int depth_ = 0;
};

}  // namespace

Feasible is_feasible(const Values& values, const State& state, unsigned budget) {
  try {
    z3::context context;
    z3::solver solver(context, z3::solver::simple());
    solver.set("rlimit", budget);
    Encoder encoder(values, context, solver);
    for (const auto& [value, fact] : state.facts) {
      const bool is_null = fact.low == 0 && fact.high == 0;
      if (is_null && values[value].kind == ValueKind::object) encoder.add_failed(value);
    }
    for (const auto& [value, fact] : state.facts) {
      encoder.add(value, fact);
      if (encoder.too_large()) return Feasible::undecided;
    }
    switch (solver.check()) {
      case z3::sat:
        return Feasible::yes;
      case z3::unsat:
        return Feasible::no;
      case z3::unknown:
        break;
    }
  } catch (const z3::exception&) {
    // An answer that did not come is no answer.
  }
  return Feasible::undecided;
}

}  // namespace plumb::check
