#include "preload/sandbox.h"

namespace plumb::rt {

namespace {

constexpr uint32_t kKill = 0x80000000;
constexpr uint32_t kThisMachine = 0xc000003e;  // AUDIT_ARCH_X86_64

// What a filter sees of a call (struct seccomp_data).
struct Seen {
  uint32_t number;
  uint32_t machine;
  uint64_t instruction;
  uint64_t arguments[6];
};

bool compare(uint16_t how, uint32_t left, uint32_t right) {
  switch (how) {
    case 0x10:
      return left == right;
    case 0x20:
      return left > right;
    case 0x30:
      return left >= right;
    default:
      return (left & right) != 0;
  }
}

uint32_t calculate(uint16_t how, uint32_t left, uint32_t right) {
  switch (how) {
    case 0x00:
      return left + right;
    case 0x10:
      return left - right;
    case 0x20:
      return left * right;
    case 0x30:
      return right == 0 ? 0 : left / right;
    case 0x40:
      return left | right;
    case 0x50:
      return left & right;
    case 0x60:
      return right < 32 ? left << right : 0;
    case 0x70:
      return right < 32 ? left >> right : 0;
    case 0x80:
      return 0 - left;
    default:
      return left ^ right;
  }
}

}  // namespace

// The language of Berkeley's packet filters, as far as seccomp has it. Filters have no
// loops: jumps lead forward.
uint32_t filter_result(const FilterStep* steps, size_t count, uint32_t number,
                       const uint64_t* arguments) {
  constexpr uint32_t kWords = 16;
  constexpr uint16_t kImmediate = 0x00, kAbsolute = 0x20, kMemory = 0x60, kLength = 0x80;
  Seen seen{number, kThisMachine, 0, {}};
  for (unsigned i = 0; i < 6; ++i) seen.arguments[i] = arguments[i];
  uint32_t a = 0;
  uint32_t x = 0;
  uint32_t memory[kWords] = {};
  for (size_t at = 0; at < count; ++at) {
    const FilterStep& step = steps[at];
    const uint32_t operand = (step.code & 0x08) != 0 ? x : step.value;
    switch (step.code & 0x07) {
      case 0x00:    // load into a
      case 0x01: {  // ... into x
        uint32_t loaded = 0;
        const uint16_t from = step.code & 0xe0;
        if (from == kImmediate) {
          loaded = step.value;
        } else if (from == kAbsolute && step.value % 4 == 0 && step.value + 4 <= sizeof seen) {
          __builtin_memcpy(&loaded, reinterpret_cast<const char*>(&seen) + step.value, 4);
        } else if (from == kMemory && step.value < kWords) {
          loaded = memory[step.value];
        } else if (from == kLength) {
          loaded = sizeof seen;
        } else {
          return kKill;
        }
        ((step.code & 0x07) == 0 ? a : x) = loaded;
        break;
      }
      case 0x02:  // store a
      case 0x03:  // ... x
        if (step.value >= kWords) return kKill;
        memory[step.value] = (step.code & 0x07) == 2 ? a : x;
        break;
      case 0x04:
        a = calculate(step.code & 0xf0, a, operand);
        break;
      case 0x05:
        at += (step.code & 0xf0) == 0                 ? step.value
              : compare(step.code & 0xf0, a, operand) ? step.if_true
                                                      : step.if_false;
        break;
      case 0x06:
        return (step.code & 0x18) == 0x10 ? a : step.value;
      default:
        if ((step.code & 0xf8) == 0x80)
          a = x;
        else
          x = a;
        break;
    }
  }
  return kKill;
}

}  // namespace plumb::rt
