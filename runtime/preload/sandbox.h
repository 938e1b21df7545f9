// A program that forbids itself system calls (seccomp) forbids them to us as well, and a
// call that is not allowed may end it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

struct SystemCall {
  uint32_t number;
  uint64_t arguments[6];
};

// What a library asks of the kernel besides the scan: for its report at the end, and where
// it can do without. Each library that has wrap_sandbox says it.
struct OwnCalls {
  const SystemCall* needed;
  size_t needed_count;
  const SystemCall* spared;
  size_t spared_count;
};
extern const OwnCalls own_calls;
void do_without_spared_calls();
// The tracking ends here; this is the last moment to say why.
void give_up_in_sandbox();

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
