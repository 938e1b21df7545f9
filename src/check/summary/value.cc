#include "check/summary/value.h"

#include <algorithm>
#include <bit>

namespace plumb::check {

namespace {

constexpr std::uint8_t kDepth = 5;  // SPARROW's k

std::int64_t cut(std::int64_t number, std::uint32_t width, bool is_signed) {
  if (width == 0 || width >= 8) return number;
  const int shift = 64 - static_cast<int>(width) * 8;
  const auto up = static_cast<std::uint64_t>(number) << shift;
  return is_signed ? static_cast<std::int64_t>(up) >> shift
                   : static_cast<std::int64_t>(up >> shift);
}

bool fold(Code code, std::int64_t a, std::int64_t b, std::int64_t& out) {
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  switch (code) {
    case Code::add:
      out = static_cast<std::int64_t>(ua + ub);
      return true;
    case Code::sub:
      out = static_cast<std::int64_t>(ua - ub);
      return true;
    case Code::mul:
      out = static_cast<std::int64_t>(ua * ub);
      return true;
    case Code::bit_and:
      out = a & b;
      return true;
    case Code::bit_or:
      out = a | b;
      return true;
    case Code::bit_xor:
      out = a ^ b;
      return true;
    case Code::shl:
      if (ub > 63) return false;
      out = static_cast<std::int64_t>(ua << ub);
      return true;
    case Code::shr_s:
      if (ub > 63) return false;
      out = a >> ub;
      return true;
    case Code::shr_u:
      if (ub > 63) return false;
      out = static_cast<std::int64_t>(ua >> ub);
      return true;
    case Code::div_s:
      if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
      out = a / b;
      return true;
    case Code::rem_s:
      if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
      out = a % b;
      return true;
    case Code::div_u:
      if (b == 0) return false;
      out = static_cast<std::int64_t>(ua / ub);
      return true;
    case Code::rem_u:
      if (b == 0) return false;
      out = static_cast<std::int64_t>(ua % ub);
      return true;
    case Code::eq:
      out = a == b;
      return true;
    case Code::ne:
      out = a != b;
      return true;
    case Code::lt_s:
      out = a < b;
      return true;
    case Code::le_s:
      out = a <= b;
      return true;
    case Code::gt_s:
      out = a > b;
      return true;
    case Code::ge_s:
      out = a >= b;
      return true;
    case Code::lt_u:
      out = ua < ub;
      return true;
    case Code::le_u:
      out = ua <= ub;
      return true;
    case Code::gt_u:
      out = ua > ub;
      return true;
    case Code::ge_u:
      out = ua >= ub;
      return true;
    default:
      return false;
  }
}

// An address in what another value is the address of.
bool is_inside(const Value& value) {
  return value.kind == ValueKind::pointer || value.kind == ValueKind::index ||
         value.kind == ValueKind::element;
}

// Does it start from what its part starts from?
bool has_root(ValueKind kind) {
  switch (kind) {
    case ValueKind::cell:
    case ValueKind::pointer:
    case ValueKind::index:
    case ValueKind::reach:
    case ValueKind::element:
    case ValueKind::cast:
      return true;
    default:
      return false;
  }
}

std::uint64_t hash_of(const Value& v) {
  std::uint64_t h = static_cast<std::uint64_t>(v.kind) | static_cast<std::uint64_t>(v.code) << 8 |
                    static_cast<std::uint64_t>(v.width) << 16;
  const auto mix = [&](std::uint64_t x) { h = (std::rotl(h, 23) ^ x) * 0x9E3779B97F4A7C15ull; };
  mix(v.a.index);
  mix(v.b.index);
  mix(static_cast<std::uint64_t>(v.number));
  return h ^ h >> 32;
}

}  // namespace

Code negated(Code code) {
  switch (code) {
    case Code::eq:
      return Code::ne;
    case Code::ne:
      return Code::eq;
    case Code::lt_s:
      return Code::ge_s;
    case Code::le_s:
      return Code::gt_s;
    case Code::gt_s:
      return Code::le_s;
    case Code::ge_s:
      return Code::lt_s;
    case Code::lt_u:
      return Code::ge_u;
    case Code::le_u:
      return Code::gt_u;
    case Code::gt_u:
      return Code::le_u;
    case Code::ge_u:
      return Code::lt_u;
    default:
      return Code::none;
  }
}

Values::Values() { append({}); }

std::optional<Values> Values::restore(std::vector<Value> values) {
  if (values.empty() || values[0] != Value{}) return std::nullopt;
  Values out;
  for (std::uint32_t i = 1; i < values.size(); ++i) {
    const Value& value = values[i];
    if (value.kind == ValueKind::none || value.kind > ValueKind::element) return std::nullopt;
    // A table names parts before what is made of them.
    if (value.code > Code::same || value.a.index >= i || value.b.index >= i) return std::nullopt;
    out.note_origin(value, ValueId::of(i));
    if (value.kind == ValueKind::fresh) out.fresh_ = std::max(out.fresh_, value.number);
  }
  out.values_ = std::move(values);
  return out;
}

// What the next value points into, and what it starts from.
void Values::note_origin(const Value& value, ValueId id) {
  targets_.push_back(is_inside(value) ? targets_[value.a.index] : id);
  roots_.push_back(has_root(value.kind) ? roots_[value.a.index] : id);
}

ValueId Values::append(const Value& value) {
  const ValueId id = ValueId::of(static_cast<std::uint32_t>(values_.size()));
  values_.push_back(value);
  note_origin(value, id);
  has_elements_.push_back(false);
  if (value.kind == ValueKind::index || value.kind == ValueKind::element) {
    has_elements_[targets_.back().index] = true;
  }
  return id;
}

namespace {

constexpr std::uint64_t kTag = ~std::uint64_t{0} << 32;  // of a slot: the hash's upper half

}  // namespace

void Values::grow() {
  const std::size_t size = std::max<std::size_t>(64, slots_.size() * 2);
  slots_.clear();
  slots_.resize(size, 0);
  // In the order in which they lie in memory. What is fresh is never looked up.
  for (std::size_t id = 1; id < values_.size(); ++id) {
    if (values_[id].kind == ValueKind::fresh) continue;
    const std::uint64_t hash = hash_of(values_[id]);
    std::size_t at = hash & (size - 1);
    while (slots_[at]) at = (at + 1) & (size - 1);
    slots_[at] = (hash & kTag) | id;
  }
}

ValueId Values::intern(const Value& value) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  const std::uint64_t hash = hash_of(value);
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at]) {
    const auto id = static_cast<std::uint32_t>(slots_[at]);
    if ((slots_[at] & kTag) == (hash & kTag) && values_[id] == value) return ValueId::of(id);
    at = (at + 1) & (slots_.size() - 1);
  }
  const ValueId id = append(value);
  slots_[at] = (hash & kTag) | id.index;
  ++used_;
  return id;
}

ValueId Values::integer(std::int64_t number) {
  return intern({.kind = ValueKind::integer, .number = number});
}

ValueId Values::param(std::uint32_t number) {
  return intern({.kind = ValueKind::param, .number = number});
}

ValueId Values::object(ObjectId object) {
  return intern({.kind = ValueKind::object, .number = object.bits});
}

ValueId Values::fresh() { return append({.kind = ValueKind::fresh, .number = ++fresh_}); }

ValueId Values::cell(ValueId base, std::int64_t offset, std::uint32_t width) {
  const Value from = (*this)[base];
  if (from.kind == ValueKind::reach) return base;
  if (from.depth >= kDepth) return reach(root(base));
  return intern({.kind = ValueKind::cell,
                 .depth = static_cast<std::uint8_t>(from.depth + 1),
                 .width = width,
                 .a = base,
                 .number = offset});
}

ValueId Values::pointer(ValueId base, std::int64_t offset) {
  const Value from = (*this)[base];
  if (from.kind == ValueKind::reach) return base;
  if (from.kind == ValueKind::element) return offset ? element(from.a, Elements::any) : base;
  if (from.kind == ValueKind::integer) return integer(from.number + offset);
  if (from.kind == ValueKind::pointer) {
    offset += from.number;
    base = from.a;
  }
  if (offset == 0) return base;
  return intern(
      {.kind = ValueKind::pointer, .depth = (*this)[base].depth, .a = base, .number = offset});
}

ValueId Values::index(ValueId base, ValueId by, std::int64_t scale) {
  const Value step = (*this)[by];
  if (step.kind == ValueKind::integer) return pointer(base, step.number * scale);
  const Value from = (*this)[base];
  if (from.kind == ValueKind::reach) return base;
  if (from.kind == ValueKind::element) return element(from.a, Elements::any);
  return intern(
      {.kind = ValueKind::index, .depth = from.depth, .a = base, .b = by, .number = scale});
}

ValueId Values::reach(ValueId base) {
  if ((*this)[base].kind == ValueKind::reach) return base;
  return intern({.kind = ValueKind::reach, .depth = kDepth, .a = base});
}

ValueId Values::pair(ValueId first, ValueId second) {
  const std::uint8_t depth = std::max((*this)[first].depth, (*this)[second].depth);
  return intern({.kind = ValueKind::pair, .depth = depth, .a = first, .b = second});
}

ValueId Values::element(ValueId container, Elements which) {
  const Value from = (*this)[container];
  // A container in a container, or beyond what is told apart.
  if (from.kind == ValueKind::reach || from.kind == ValueKind::element) return container;
  const auto make = [&](Elements each, ValueId place) {
    return intern({.kind = ValueKind::element,
                   .depth = from.depth,
                   .a = container,
                   .b = place,
                   .number = static_cast<std::int64_t>(each)});
  };
  if (which == Elements::count) return make(which, kNoValue);
  const ValueId first = make(Elements::first, kNoValue);
  return which == Elements::first ? first : make(which, first);
}

ValueId Values::merged() { return intern({.kind = ValueKind::merge, .number = fresh_++}); }

ValueId Values::found_element(ValueId container) {
  const auto number =
      static_cast<std::uint32_t>(Elements::found) + static_cast<std::uint32_t>(fresh_++);
  return element(container, static_cast<Elements>(number));
}

ValueId Values::word(ValueId aggregate, std::int64_t offset) const {
  const Value& v = (*this)[aggregate];
  if (v.kind != ValueKind::pair) return kNoValue;
  return offset == 0 ? v.a : offset == 8 ? v.b : kNoValue;
}

ValueId Values::binary(Code code, ValueId a, ValueId b, std::uint32_t width) {
  if (code == Code::none) return fresh();
  const Value left = (*this)[a];
  const Value right = (*this)[b];
  if (left.kind == ValueKind::integer && right.kind == ValueKind::integer) {
    std::int64_t out = 0;
    if (fold(code, left.number, right.number, out)) return integer(cut(out, width, true));
  }
  if (right.kind == ValueKind::integer) {
    const std::int64_t n = right.number;
    switch (code) {
      case Code::add:
      case Code::sub:
      case Code::bit_or:
      case Code::bit_xor:
      case Code::shl:
      case Code::shr_s:
      case Code::shr_u:
        if (n == 0) return a;
        break;
      case Code::mul:
        if (n == 0) return b;
        if (n == 1) return a;
        break;
      case Code::bit_and:
        if (n == 0) return b;
        if (n == -1) return a;
        break;
      default:
        break;
    }
    if (const ValueId fewer = fewer_bits(code, a, n, width); fewer != kNoValue) return fewer;
    // (x + c) + d
    if ((code == Code::add || code == Code::sub) && left.kind == ValueKind::binary &&
        left.code == Code::add && is_integer(left.b)) {
      const std::int64_t sum = (*this)[left.b].number + (code == Code::add ? n : -n);
      return binary(Code::add, left.a, integer(cut(sum, width, true)), width);
    }
    if (code == Code::sub) return binary(Code::add, a, integer(cut(-n, width, true)), width);
  } else if (left.kind == ValueKind::integer &&
             (code == Code::add || code == Code::mul || code == Code::bit_and ||
              code == Code::bit_or || code == Code::bit_xor)) {
    return binary(code, b, a, width);
  }
  if (a == b && (code == Code::sub || code == Code::bit_xor)) return integer(0);
  // How far two addresses of one object are apart is a number, and no way to the object.
  if (code == Code::sub && left.kind == ValueKind::index && left.a == b) {
    return binary(Code::mul, left.b, integer(left.number), width);
  }
  if (code == Code::sub && (left.kind == ValueKind::pointer || right.kind == ValueKind::pointer)) {
    const Place from = place(b);
    const Place to = place(a);
    if (from.base == to.base) return integer(to.offset - from.offset);
  }
  if (a == b && (code == Code::bit_and || code == Code::bit_or)) return a;
  const std::uint8_t depth = std::max(left.depth, right.depth);
  return intern(
      {.kind = ValueKind::binary, .code = code, .depth = depth, .width = width, .a = a, .b = b});
}

ValueId Values::compare(Code code, ValueId a, ValueId b, std::uint32_t width) {
  if (code == Code::none) return fresh();
  if (is_integer(a) && is_integer(b)) {
    std::int64_t out = 0;
    const bool is_unsigned = code >= Code::lt_u;
    const std::int64_t left = cut((*this)[a].number, width, !is_unsigned);
    const std::int64_t right = cut((*this)[b].number, width, !is_unsigned);
    if (fold(code, left, right, out)) return integer(out);
  }
  // One name for many addresses: two of them may be the same or not, each time anew.
  const auto is_any = [&](ValueId id) {
    const Value& v = (*this)[id];
    return v.kind == ValueKind::element && v.number == static_cast<std::int64_t>(Elements::any);
  };
  if ((is_any(a) && !is_integer(b)) || (is_any(b) && !is_integer(a))) return fresh();
  if (a == b) {
    const bool holds = code == Code::eq || code == Code::le_s || code == Code::ge_s ||
                       code == Code::le_u || code == Code::ge_u;
    return integer(holds ? 1 : 0);
  }
  // A truth value compared with zero is itself, or its opposite.
  const Value left = (*this)[a];
  if (is_zero(b) && left.kind == ValueKind::compare) {
    if (code == Code::ne) return a;
    if (code == Code::eq) return compare(negated(left.code), left.a, left.b, left.width);
  }
  // One spelling: constants right, only eq, lt, le kept where order can turn.
  if (is_integer(a) || (!is_integer(b) && a.index > b.index)) {
    std::swap(a, b);
    switch (code) {
      case Code::lt_s:
        code = Code::gt_s;
        break;
      case Code::le_s:
        code = Code::ge_s;
        break;
      case Code::gt_s:
        code = Code::lt_s;
        break;
      case Code::ge_s:
        code = Code::le_s;
        break;
      case Code::lt_u:
        code = Code::gt_u;
        break;
      case Code::le_u:
        code = Code::ge_u;
        break;
      case Code::gt_u:
        code = Code::lt_u;
        break;
      case Code::ge_u:
        code = Code::le_u;
        break;
      default:
        break;
    }
  }
  const std::uint8_t depth = std::max((*this)[a].depth, (*this)[b].depth);
  return intern(
      {.kind = ValueKind::compare, .code = code, .depth = depth, .width = width, .a = a, .b = b});
}

ValueId Values::opposite(ValueId truth) {
  const Value v = (*this)[truth];
  return compare(negated(v.code), v.a, v.b, v.width);
}

ValueId Values::cast(Code code, ValueId a, std::uint32_t width) {
  const Value from = (*this)[a];
  if (from.kind == ValueKind::integer) {
    return integer(cut(from.number, width, code != Code::zero_extend));
  }
  // A truth value, or a pointer kept in an integer, stays what it is.
  if (from.kind == ValueKind::compare || code == Code::same) return a;
  if (width >= 8 && (from.kind == ValueKind::param || from.kind == ValueKind::object ||
                     from.kind == ValueKind::pointer)) {
    return a;
  }
  // A number that was made wider and is cut to what it was.
  if (code == Code::truncate && from.kind == ValueKind::cast && from.code != Code::truncate) {
    const Value& inner = (*this)[from.a];
    const bool sized = inner.kind == ValueKind::cell || inner.kind == ValueKind::binary;
    if (sized && inner.width == width) return from.a;
  }
  // A word that was put together of parts, and is taken apart again.
  if (code == Code::truncate && from.kind == ValueKind::binary && from.code == Code::bit_or) {
    const std::uint64_t kept = width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << width * 8) - 1;
    if ((possible_bits(from.b) & kept) == 0) return cast(code, from.a, width);
    if ((possible_bits(from.a) & kept) == 0) return cast(code, from.b, width);
  }
  return intern(
      {.kind = ValueKind::cast, .code = code, .depth = from.depth, .width = width, .a = a});
}

ValueId Values::merge(std::uint32_t block, ValueId place, std::int64_t number, ValueId likely,
                      ValueId other) {
  const Value value{.kind = ValueKind::merge, .width = block, .a = place, .number = number};
  if ((*this)[likely] == value) return likely;
  return (*this)[other] == value ? other : intern(value);
}

Values::Place Values::place(ValueId pointer) const {
  const Value& value = (*this)[pointer];
  if (value.kind == ValueKind::pointer) return {value.a, value.number};
  if (value.kind == ValueKind::element && value.b != kNoValue) return {value.b, 0};
  return {pointer, 0};
}

ValueId Values::tagged_target(ValueId id) const {
  constexpr int kDeepest = 4;
  for (int i = 0; i < kDeepest; ++i) {
    const Value& v = (*this)[target(id)];
    const bool tagged = v.kind == ValueKind::binary && is_integer(v.b) &&
                        (v.code == Code::bit_or || v.code == Code::bit_xor || v.code == Code::add);
    if (!tagged && v.kind != ValueKind::cast) break;
    id = v.a;
  }
  return target(id);
}

bool Values::is_heap(ValueId target) const {
  const Value& value = (*this)[target];
  return value.kind == ValueKind::object && ObjectId{value.number}.kind() == ObjectKind::heap;
}

}  // namespace plumb::check
