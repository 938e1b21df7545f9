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

struct SystemCalls {
  const SystemCall* first = nullptr;
  size_t count = 0;
};
template <size_t N>
constexpr SystemCalls all_of(const SystemCall (&calls)[N]) {
  return {calls, N};
}

// What a library asks of the kernel. Each library that has wrap_filter says it.
struct OwnCalls {
  bool scans;                  // what the scan at the end needs
  SystemCalls needed;          // besides, in threads of the program
  SystemCalls of_own_threads;  // in a thread of ours, to which a filter may extend
  SystemCalls spared;          // that it can do without
};
extern const OwnCalls own_calls;
void do_without_spared_calls();
// The tracking ends here; this is the last moment to say why.
void give_up_in_sandbox();

// As the arguments of the system call have it; before the kernel sees it.
void before_filter(long operation, long flags, const void* data);

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
