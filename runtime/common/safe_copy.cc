#include "common/safe_copy.h"

#include <signal.h>
#include <ucontext.h>

#include "common/own_stack.h"
#include "common/sys.h"

namespace plumb::rt {

extern "C" {
void* plumb_rt_fault_jump[5];

// rdi: to, rsi: from, rdx: words. Returns the words that are left.
__attribute__((naked, used, visibility("hidden"))) size_t plumb_rt_copy_words(void*, const void*,
                                                                              size_t) {
  __asm__(
      "  test %rdx, %rdx\n"
      "  je plumb_rt_copy_end\n"
      ".hidden plumb_rt_copy_load\n"
      ".globl plumb_rt_copy_load\n"
      "plumb_rt_copy_load:\n"
      "  movq (%rsi), %rax\n"
      "  movq %rax, (%rdi)\n"
      "  addq $8, %rsi\n"
      "  addq $8, %rdi\n"
      "  decq %rdx\n"
      "  jne plumb_rt_copy_load\n"
      ".hidden plumb_rt_copy_end\n"
      ".globl plumb_rt_copy_end\n"
      "plumb_rt_copy_end:\n"
      "  movq %rdx, %rax\n"
      "  ret\n");
}
extern const char plumb_rt_copy_load[] __attribute__((visibility("hidden")));
extern const char plumb_rt_copy_end[] __attribute__((visibility("hidden")));
}

namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS};
KernelAction old_actions[2];
int guarded_thread = 0;

void pass_on(int signal, siginfo_t* info, void* context) {
  const KernelAction& old = old_actions[signal == SIGSEGV ? 0 : 1];
  if (old.handler == reinterpret_cast<void*>(SIG_DFL) ||
      old.handler == reinterpret_cast<void*>(SIG_IGN)) {
    sys_sigaction(signal, &old, nullptr);  // the fault happens again, for real
    return;
  }
  reinterpret_cast<void (*)(int, siginfo_t*, void*)>(old.handler)(signal, info, context);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (sys_gettid() != guarded_thread) return pass_on(signal, info, context);
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (registers[REG_RIP] == reinterpret_cast<greg_t>(plumb_rt_copy_load)) {
    registers[REG_RIP] = reinterpret_cast<greg_t>(plumb_rt_copy_end);
    return;
  }
  sys_sigmask(SIG_UNBLOCK, signal_bit(SIGSEGV) | signal_bit(SIGBUS), nullptr);
  __builtin_longjmp(plumb_rt_fault_jump, 1);
}

}  // namespace

size_t safe_copy(void* to, const void* from, size_t size) {
  const size_t words = size / sizeof(uint64_t);
  return (words - plumb_rt_copy_words(to, from, words)) * sizeof(uint64_t);
}

FaultGuard::FaultGuard() {
  guarded_thread = sys_gettid();
  KernelAction action{};
  action.handler = reinterpret_cast<void*>(on_fault);
  action.flags = kActionInfo;
  // The program's signal stack may be in use, by the handler that brought us here.
  if (!is_on_own_stack()) action.flags |= kActionOnStack;
  for (int i = 0; i < 2; ++i) sys_sigaction(kSignals[i], &action, &old_actions[i]);
  sys_sigmask(SIG_UNBLOCK, signal_bit(SIGSEGV) | signal_bit(SIGBUS), nullptr);
}

FaultGuard::~FaultGuard() {
  for (int i = 0; i < 2; ++i) {
    KernelAction old = old_actions[i];
    // The program's restorer stays as it was.
    sys_call(SYS_rt_sigaction, kSignals[i], reinterpret_cast<long>(&old), 0, sizeof(uint64_t));
  }
  guarded_thread = 0;
}

}  // namespace plumb::rt
