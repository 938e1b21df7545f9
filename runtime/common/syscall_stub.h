// libc's syscall(), in pieces, for the libraries that stand in front of it: naked functions
// put these strings together. The arguments come as of a function, the kernel takes them
// in other registers.
#pragma once

// All but the seventh, which is on the stack.
#define PLUMB_STUB_TO_KERNEL \
  "movq %rdi, %rax\n\t"      \
  "movq %rsi, %rdi\n\t"      \
  "movq %rdx, %rsi\n\t"      \
  "movq %rcx, %rdx\n\t"      \
  "movq %r8, %r10\n\t"       \
  "movq %r9, %r8\n\t"

// The call, and back to the caller; to label 3 with an error.
#define PLUMB_STUB_CALL PLUMB_STUB_TO_KERNEL "movq 8(%rsp), %r9\n\tsyscall\n\t" PLUMB_STUB_RETURN
#define PLUMB_STUB_RETURN \
  "cmpq $-4095, %rax\n\t" \
  "jae 3f\n\t"            \
  "ret\n"
#define PLUMB_STUB_FAILED \
  "3:\n\t"                \
  "movq %rax, %rdi\n\t"   \
  "jmp plumb_rt_call_failed"

// Calls `function` with the arguments as they are, and has them afterwards.
#define PLUMB_STUB_ASK(function)                                                       \
  "pushq %rdi\n\tpushq %rsi\n\tpushq %rdx\n\tpushq %rcx\n\tpushq %r8\n\tpushq %r9\n\t" \
  "subq $8, %rsp\n\t"                                                                  \
  "call " #function                                                                    \
  "\n\t"                                                                               \
  "addq $8, %rsp\n\t"                                                                  \
  "popq %r9\n\tpopq %r8\n\tpopq %rcx\n\tpopq %rdx\n\tpopq %rsi\n\tpopq %rdi\n\t"
