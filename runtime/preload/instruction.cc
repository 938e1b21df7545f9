#include "preload/instruction.h"

namespace plumb::rt {

namespace {

bool is_relative(uint8_t operand) { return (operand & 0xc7) == 5; }

// The operand byte and what follows it.
unsigned operand_length(const uint8_t* code) {
  const unsigned mode = code[0] >> 6;
  const unsigned base = code[0] & 7;
  if (mode == 3) return 1;
  if (mode == 0 && base == 5) return 5;
  unsigned length = 1;
  if (base == 4) {
    ++length;
    if (mode == 0 && (code[1] & 7) == 5) length += 4;
  }
  if (mode == 1) length += 1;
  if (mode == 2) length += 4;
  return length;
}

Movable with_operand(const uint8_t* code, unsigned before, unsigned behind = 0) {
  return {before + operand_length(code + before) + behind,
          is_relative(code[before]) ? before + 1 : 0};
}

bool is_plain_operation(uint8_t code) {
  // add, or, and, sub, xor, cmp between registers and memory, both ways.
  if (code < 0x40) return (code & 7) < 4;
  return code == 0x63 || (code >= 0x84 && code <= 0x8b) || code == 0x8d;
}

Movable two_bytes(const uint8_t* code, unsigned at) {
  const uint8_t second = code[at + 1];
  const bool known = second == 0x1f ||  // a long nop
                     second == 0xaf ||  // imul
                     second == 0xb6 || second == 0xb7 || second == 0xbe || second == 0xbf ||
                     second == 0x10 || second == 0x11 || second == 0x28 || second == 0x29 ||
                     second == 0x57 || second == 0x6f || second == 0x7f || second == 0xef ||
                     (second >= 0x40 && second <= 0x4f);  // cmov
  return known ? with_operand(code, at + 2) : Movable{};
}

}  // namespace

Movable movable(const uint8_t* code) {
  if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) return {4, 0};
  unsigned at = 0;
  if (code[at] == 0x66 || code[at] == 0xf3 || code[at] == 0xf2) ++at;
  const bool wide = (code[at] & 0xf8) == 0x48;
  if ((code[at] & 0xf0) == 0x40) ++at;
  const uint8_t first = code[at];
  if (first == 0x0f) return two_bytes(code, at);
  if (first == 0x90 || (first >= 0x50 && first <= 0x5f)) return {at + 1, 0};
  if (is_plain_operation(first)) return with_operand(code, at + 1);
  if (first >= 0xb8 && first <= 0xbf) return {at + 1 + (wide ? 8 : 4), 0};
  if (at != 0 && code[0] == 0x66) return {};  // operands of two bytes
  if (first == 0x80 || first == 0x83 || first == 0xc0 || first == 0xc1 || first == 0xc6) {
    return with_operand(code, at + 1, 1);
  }
  if (first == 0xc3 && at == 0) return {1, 0};  // nothing comes behind it
  if (first == 0xd1 || first == 0xd3) return with_operand(code, at + 1);
  if (first == 0xf6 || first == 0xf7 || first == 0xff) {
    const unsigned which = (code[at + 1] >> 3) & 7;
    if (first == 0xff) return which < 2 ? with_operand(code, at + 1) : Movable{};  // inc, dec
    const unsigned constant = first == 0xf6 ? 1 : 4;
    return with_operand(code, at + 1, which < 2 ? constant : 0);  // test; not, neg, ...
  }
  if (first == 0x81 || first == 0xc7 || first == 0x69) return with_operand(code, at + 1, 4);
  return {};
}

}  // namespace plumb::rt
