// Bit fields and flags: what a mask leaves of a word that was put together by masks.
// Only bits that cannot be set decide, so nothing is assumed of the word itself.
#include "check/summary/value.h"

namespace plumb::check {

namespace {

std::uint64_t mask_of(std::uint32_t width) {
  return width == 0 || width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (width * 8)) - 1;
}

std::int64_t sign_extended(std::uint64_t bits, std::uint32_t width) {
  if (width == 0 || width >= 8) return static_cast<std::int64_t>(bits);
  const int shift = 64 - static_cast<int>(width) * 8;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

}  // namespace

// The bits that can be set, as far as the value is made of masks and shifts.
std::uint64_t Values::possible_bits(ValueId id, int depth) const {
  constexpr int kDeepest = 12;
  const Value& v = (*this)[id];
  if (v.kind == ValueKind::integer) return static_cast<std::uint64_t>(v.number);
  if (v.kind == ValueKind::compare) return 1;
  // What an allocator gives is aligned: a tag has room in the low bits.
  constexpr std::uint64_t kAligned = ~std::uint64_t{15};
  if (v.kind == ValueKind::object && ObjectId{v.number}.kind() == ObjectKind::heap) return kAligned;
  if (depth > kDeepest) return ~std::uint64_t{0};
  if (v.kind == ValueKind::cast) {
    if (v.code == Code::truncate) return possible_bits(v.a, depth + 1) & mask_of(v.width);
    if (v.code != Code::zero_extend) return ~std::uint64_t{0};
    const Value& from = (*this)[v.a];
    const bool sized = from.kind == ValueKind::cell || from.kind == ValueKind::binary ||
                       from.kind == ValueKind::cast;
    return possible_bits(v.a, depth + 1) & mask_of(sized ? from.width : 0);
  }
  if (v.kind != ValueKind::binary) return ~std::uint64_t{0};
  switch (v.code) {
    case Code::bit_and:
      return possible_bits(v.a, depth + 1) & possible_bits(v.b, depth + 1);
    case Code::bit_or:
    case Code::bit_xor:
      return possible_bits(v.a, depth + 1) | possible_bits(v.b, depth + 1);
    case Code::shl:
    case Code::shr_u: {
      const Value& by = (*this)[v.b];
      if (by.kind != ValueKind::integer || by.number < 0 || by.number > 63) break;
      const std::uint64_t bits = possible_bits(v.a, depth + 1) & mask_of(v.width);
      return v.code == Code::shl ? (bits << by.number) & mask_of(v.width) : bits >> by.number;
    }
    default:
      break;
  }
  return ~std::uint64_t{0};
}

// `a` masked or shifted by a number, when that is a simpler value; else kNoValue.
ValueId Values::fewer_bits(Code code, ValueId a, std::int64_t by, std::uint32_t width) {
  if (code != Code::bit_and && code != Code::shr_u) return kNoValue;
  if (code == Code::shr_u && (by < 0 || by > 63)) return kNoValue;
  const std::uint64_t all = mask_of(width);
  const std::uint64_t kept =
      code == Code::bit_and ? static_cast<std::uint64_t>(by) & all : all >> by << by;
  const auto left = [&](ValueId id) { return possible_bits(id) & kept; };
  const auto again = [&](ValueId id) { return binary(code, id, integer(by), width); };
  if (left(a) == 0) return integer(0);
  if (code == Code::bit_and && (possible_bits(a) & all & ~kept) == 0) return a;
  const Value v = (*this)[a];
  if (v.kind != ValueKind::binary) return kNoValue;
  if (v.code == Code::bit_or) {
    if (left(v.a) == 0) return again(v.b);
    if (left(v.b) == 0) return again(v.a);
    if (code == Code::bit_and && is_integer(v.b) && left(v.b) == kept) {
      return integer(sign_extended(kept, width));
    }
  }
  if (code == Code::bit_and && v.code == Code::bit_and && is_integer(v.b)) {
    return binary(code, v.a, integer(sign_extended(left(v.b), width)), width);
  }
  // (x >> n) & c as (x & c << n) >> n: the mask meets what x is made of.
  if (code == Code::bit_and && v.code == Code::shr_u && is_integer(v.b)) {
    const std::int64_t n = (*this)[v.b].number;
    const std::uint64_t above = n >= 0 && n < 64 ? kept << n & all : 0;
    if (above != 0 && above >> n == kept) {
      const ValueId masked =
          binary(Code::bit_and, v.a, integer(sign_extended(above, width)), width);
      return binary(Code::shr_u, masked, v.b, width);
    }
  }
  const bool back =
      code == Code::shr_u && v.code == Code::shl && is_integer(v.b) && (*this)[v.b].number == by;
  if (back) {
    return binary(Code::bit_and, v.a, integer(sign_extended(all >> by, width)), width);
  }
  return kNoValue;
}

}  // namespace plumb::check
