// The program's own system calls: a filter for them comes this way, too.

#include <errno.h>

#include "common/sys.h"
#include "common/syscall_stub.h"
#include "preload/export.h"
#include "preload/sandbox.h"

using namespace plumb::rt;

extern "C" __attribute__((used, visibility("hidden"))) void plumb_rt_before_call(long number,
                                                                                 long operation,
                                                                                 long flags,
                                                                                 const void* data) {
  constexpr long kStrict = 0, kFilter = 1;
  if (number == SYS_seccomp && (operation == kStrict || operation == kFilter)) {
    before_filter(operation, flags, data);
  }
}
extern "C" __attribute__((used, visibility("hidden"))) long plumb_rt_call_failed(long result) {
  errno = static_cast<int>(-result);
  return -1;
}

// As libc does it: nothing of ours is on the stack during the call, which may return twice.
PLUMB_EXPORT __attribute__((naked)) long syscall(long, ...) noexcept {
  __asm__(
      "cmpq $317, %rdi\n\t"  // SYS_seccomp
      "je 2f\n"
      "1:\n\t" PLUMB_STUB_CALL
      "2:\n\t" PLUMB_STUB_ASK(plumb_rt_before_call) "jmp 1b\n" PLUMB_STUB_FAILED);
}
static_assert(SYS_seccomp == 317);
