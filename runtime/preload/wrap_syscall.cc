// The program's own system calls: a filter for them comes this way, too.

#include <errno.h>

#include "common/sys.h"
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
      "1:\n\t"
      "movq %rdi, %rax\n\t"
      "movq %rsi, %rdi\n\t"
      "movq %rdx, %rsi\n\t"
      "movq %rcx, %rdx\n\t"
      "movq %r8, %r10\n\t"
      "movq %r9, %r8\n\t"
      "movq 8(%rsp), %r9\n\t"
      "syscall\n\t"
      "cmpq $-4095, %rax\n\t"
      "jae 3f\n\t"
      "ret\n"
      "2:\n\t"
      "pushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tpushq %rcx\n\tpushq %r8\n\tpushq %r9\n\t"
      "subq $8, %rsp\n\t"
      "call plumb_rt_before_call\n\t"
      "addq $8, %rsp\n\t"
      "popq %r9\n\tpopq %r8\n\tpopq %rcx\n\tpopq %rdx\n\tpopq %rsi\n\tpopq %rdi\n\t"
      "jmp 1b\n"
      "3:\n\t"
      "movq %rax, %rdi\n\t"
      "jmp plumb_rt_call_failed");
}
static_assert(SYS_seccomp == 317);
