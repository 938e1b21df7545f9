// Reading memory that may turn out not to be readable: a page that the program
// protected, the part of a mapped file that was cut off.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

// Copies whole words; returns the bytes copied before a fault, or all. Needs
// FaultGuard.
size_t safe_copy(void* to, const void* from, size_t size);

// While it lives, faults of this thread inside safe_copy end the copy, and any
// other fault of this thread is a bug of ours: it jumps to where faulted() was
// called, which then returns true. Faults of other threads go where they would
// have gone.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

extern "C" void* plumb_rt_fault_jump[5] __attribute__((visibility("hidden")));
// A macro because the frame that calls setjmp must stay.
#define PLUMB_RT_FAULTED() (__builtin_setjmp(::plumb::rt::plumb_rt_fault_jump) != 0)

}  // namespace plumb::rt
