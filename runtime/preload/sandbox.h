// A program that forbids itself system calls (seccomp) forbids them to us as well, and a
// call that is not allowed may end it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

// One instruction of a filter, as the kernel has them (struct sock_filter).
struct FilterStep {
  uint16_t code;
  uint8_t if_true;
  uint8_t if_false;
  uint32_t value;
};

// What the filter says to a call on x86-64: SECCOMP_RET_...; "kill" when it cannot be told.
uint32_t filter_result(const FilterStep* steps, size_t count, uint32_t number,
                       const uint64_t* arguments);

}  // namespace plumb::rt
