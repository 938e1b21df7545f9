// Every way to end: exit, return from main, quick_exit, _exit, exec, abort.
//
// exit and quick_exit run the program's handlers and destructors first; our own
// handler was registered before all others and so runs last. What counts is the
// stack of whoever called exit: the entry points are assembly, so that not one
// of its registers is lost and nothing below its frame is looked at. abort ends by
// a signal (wrap_signal): the frames of libc between its caller and the signal have
// holes with what was there before, references of functions that are over.

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/process.h"
#include "common/scan.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "common/task_files.h"
#include "common/thread_stacks.h"
#include "common/watcher.h"
#include "preload/end.h"
#include "preload/export.h"

using namespace plumb::rt;

namespace {

// As the stubs below push them.
struct Saved {
  uint64_t argument;
  uint64_t registers[6];  // those that a function must keep
  uint64_t return_address;
};

// Who is on the way out.
struct Leaving {
  int tid;
  uintptr_t stack_pointer;
  uint64_t registers[6];
};
Leaving leaving;

ScanPoint point_of(Leaving& from) {
  const uintptr_t words = reinterpret_cast<uintptr_t>(from.registers);
  return {from.stack_pointer, {words, words + sizeof from.registers}, {}};
}

Leaving leaving_from(const Saved& saved) {
  Leaving from{};
  from.tid = sys_gettid();
  from.stack_pointer = reinterpret_cast<uintptr_t>(&saved + 1);
  __builtin_memcpy(from.registers, saved.registers, sizeof from.registers);
  return from;
}

// Two threads in exit: the second would end the process under our scan. It
// waits, unless the first one sleeps (it may be waiting for this very thread).
void let_first_one_finish(int first) {
  uint64_t asleep_since = 0;
  while (!scan_is_over()) {
    sys_sleep(1'000'000);
    if (scan_is_on()) continue;
    const TaskState state = task_state(first);
    if (state.letter == 0 || state.letter == 'Z') return;
    const uint64_t now = sys_nanoseconds();
    if (state.letter != 'S')
      asleep_since = 0;
    else if (asleep_since == 0)
      asleep_since = now;
    else if (now - asleep_since > 50'000'000)
      return;
  }
}

extern "C" __attribute__((used)) void plumb_rt_note_exit(const Saved* saved) {
  if (!is_us()) return;
  const Leaving from = leaving_from(*saved);
  int nobody = 0;
  if (!__atomic_compare_exchange_n(&leaving.tid, &nobody, from.tid, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE) &&
      nobody != from.tid) {
    let_first_one_finish(nobody);
    return;
  }
  leaving = from;
  if (scan_hooks.leaving != nullptr) scan_hooks.leaving();
}

void end_here(uint32_t end) {
  if (!is_us()) return;
  if (leaving.tid == sys_gettid()) {
    scan_at_end(end, 0, "", point_of(leaving));
  } else {  // libc called exit by itself: the last thread has ended
    Leaving from{};
    from.stack_pointer = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    scan_at_end(end, 0, "", point_of(from));
  }
  release_world();
}

extern "C" __attribute__((used)) void plumb_rt_end_now(const Saved* saved) {
  if (!is_us()) return;
  Leaving from = leaving_from(*saved);
  scan_at_end(PLUMB_END_NOW, 0, "", point_of(from));
  while (scan_is_on()) sys_sleep(1'000'000);  // another thread was first
  release_world();
}

extern "C" __attribute__((used, noreturn)) void plumb_rt_leave(int status) {
  while (true) sys_call(SYS_exit_group, status);
}
extern "C" __attribute__((used, noreturn)) void plumb_rt_real_exit(int status) {
  real().exit(status);
  __builtin_unreachable();
}
extern "C" __attribute__((used, noreturn)) void plumb_rt_real_quick_exit(int status) {
  real().quick_exit(status);
  __builtin_unreachable();
}

// Pushes what Saved has, tells `note`, then goes on to `target` as if it had
// been called in our place.
#define PLUMB_EXIT_STUB(note, target) \
  __asm__(                            \
      "pushq %rbp\n\t"                \
      "pushq %rbx\n\t"                \
      "pushq %r12\n\t"                \
      "pushq %r13\n\t"                \
      "pushq %r14\n\t"                \
      "pushq %r15\n\t"                \
      "pushq %rdi\n\t"                \
      "movq %rsp, %rdi\n\t"           \
      "call " #note                   \
      "\n\t"                          \
      "popq %rdi\n\t"                 \
      "popq %r15\n\t"                 \
      "popq %r14\n\t"                 \
      "popq %r13\n\t"                 \
      "popq %r12\n\t"                 \
      "popq %rbx\n\t"                 \
      "popq %rbp\n\t"                 \
      "jmp " #target)

// Who called abort last. A handler of the program's may have left it by longjmp, so
// the record counts only while its return address is where it was.
struct Aborting {
  Leaving from;
  uint64_t return_address;
};
Aborting aborting;

extern "C" __attribute__((used)) void plumb_rt_note_abort(const Saved* saved) {
  if (is_us()) aborting = {leaving_from(*saved), saved->return_address};
}
extern "C" __attribute__((used, noreturn)) void plumb_rt_real_abort() {
  real().abort();
  __builtin_unreachable();
}

int (*program_main)(int, char**, char**);
uintptr_t program_stack_end = 0;

int run_main(int count, char** arguments, char** environment) {
  note_main_frame(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), program_stack_end);
  if (watching()) watch_thread_begins(true);
  const int status = program_main(count, arguments, environment);
  // libc calls exit for us, not through the stub above; main's frame and all
  // below it are over.
  if (is_us() && leaving.tid == 0) {
    leaving.stack_pointer = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    leaving.tid = sys_gettid();
    if (scan_hooks.leaving != nullptr) scan_hooks.leaving();
  }
  return status;
}

// From inside an ordinary function: what it has saved of its caller's registers
// is in its frame, above the stack pointer; the others are still in place.
__attribute__((always_inline)) inline Leaving leaving_here() {
  Leaving from{};
  from.tid = sys_gettid();
  __asm__ volatile(
      "movq %%rsp, %0\n\t"
      "movq %%rbp, 0(%1)\n\t"
      "movq %%rbx, 8(%1)\n\t"
      "movq %%r12, 16(%1)\n\t"
      "movq %%r13, 24(%1)\n\t"
      "movq %%r14, 32(%1)\n\t"
      "movq %%r15, 40(%1)"
      : "=&r"(from.stack_pointer)
      : "r"(from.registers)
      : "memory");
  return from;
}

// The new program replaces this one: this is the end, unless it fails. The
// other threads stay stopped; they do not survive it.
template <typename Call>
__attribute__((always_inline)) inline int around_exec(const char* program, Call call) {
  if (!is_us()) return call();  // a vfork child, most likely
  Leaving from = leaving_here();
  const bool scanned = scan_at_end(PLUMB_END_EXEC, 0, program, point_of(from));
  const int result = call();
  const int saved = errno;
  if (scanned) resume_after_scan();
  errno = saved;
  return result;
}

}  // namespace

namespace plumb::rt {

void end_of_exit(void*) { end_here(PLUMB_END_EXIT); }
void end_of_quick_exit() { end_here(PLUMB_END_QUICK_EXIT); }

bool where_abort_was_called(uintptr_t interrupted, ScanPoint& point) {
  // What abort, raise and those that they call need of the stack, by far.
  constexpr uintptr_t kFramesOfAbort = 4096;
  const uintptr_t called = aborting.from.stack_pointer;
  if (aborting.from.tid != sys_gettid() || interrupted >= called ||
      called - interrupted > kFramesOfAbort) {
    return false;
  }
  if (reinterpret_cast<const uint64_t*>(called)[-1] != aborting.return_address) return false;
  point = point_of(aborting.from);
  return true;
}

}  // namespace plumb::rt

PLUMB_EXPORT __attribute__((naked, noreturn)) void exit(int) noexcept {
  PLUMB_EXIT_STUB(plumb_rt_note_exit, plumb_rt_real_exit);
}
PLUMB_EXPORT __attribute__((naked, noreturn)) void quick_exit(int) noexcept {
  PLUMB_EXIT_STUB(plumb_rt_note_exit, plumb_rt_real_quick_exit);
}
PLUMB_EXPORT __attribute__((naked, noreturn)) void _exit(int) {
  PLUMB_EXIT_STUB(plumb_rt_end_now, plumb_rt_leave);
}
PLUMB_EXPORT __attribute__((naked, noreturn)) void _Exit(int) noexcept {
  PLUMB_EXIT_STUB(plumb_rt_end_now, plumb_rt_leave);
}
PLUMB_EXPORT __attribute__((naked, noreturn)) void abort() noexcept {
  PLUMB_EXIT_STUB(plumb_rt_note_abort, plumb_rt_real_abort);
}

PLUMB_EXPORT int __libc_start_main(int (*main)(int, char**, char**), int count, char** arguments,
                                   void (*init)(), void (*fini)(), void (*loader_fini)(),
                                   void* stack_end) {
  program_main = main;
  program_stack_end = reinterpret_cast<uintptr_t>(stack_end);
  return real().start_main(run_main, count, arguments, init, fini, loader_fini, stack_end);
}

PLUMB_EXPORT int execve(const char* path, char* const* arguments,
                        char* const* environment) noexcept {
  return around_exec(path, [=] { return real().execve(path, arguments, environment); });
}
PLUMB_EXPORT int execv(const char* path, char* const* arguments) noexcept {
  return around_exec(path, [=] { return real().execve(path, arguments, environ); });
}
PLUMB_EXPORT int execvp(const char* file, char* const* arguments) noexcept {
  return around_exec(file, [=] { return real().execvpe(file, arguments, environ); });
}
PLUMB_EXPORT int execvpe(const char* file, char* const* arguments,
                         char* const* environment) noexcept {
  return around_exec(file, [=] { return real().execvpe(file, arguments, environment); });
}
PLUMB_EXPORT int fexecve(int file, char* const* arguments, char* const* environment) noexcept {
  return around_exec("a descriptor", [=] { return real().fexecve(file, arguments, environment); });
}
PLUMB_EXPORT int execveat(int directory, const char* path, char* const* arguments,
                          char* const* environment, int flags) noexcept {
  return around_exec(
      path, [=] { return real().execveat(directory, path, arguments, environment, flags); });
}

// The variadic ones: the arguments as an array, on the stack.
#define PLUMB_COLLECT_ARGUMENTS(first)                                                   \
  va_list list;                                                                          \
  size_t count = 1;                                                                      \
  va_start(list, first);                                                                 \
  while (va_arg(list, char*) != nullptr) ++count;                                        \
  va_end(list);                                                                          \
  char** arguments = static_cast<char**>(__builtin_alloca((count + 1) * sizeof(char*))); \
  arguments[0] = const_cast<char*>(first);                                               \
  va_start(list, first);                                                                 \
  for (size_t i = 1; i <= count; ++i) arguments[i] = va_arg(list, char*)

PLUMB_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  PLUMB_COLLECT_ARGUMENTS(first);
  va_end(list);
  return execv(path, arguments);
}
PLUMB_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  PLUMB_COLLECT_ARGUMENTS(first);
  va_end(list);
  return execvp(file, arguments);
}
PLUMB_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  PLUMB_COLLECT_ARGUMENTS(first);
  char** environment = va_arg(list, char**);
  va_end(list);
  return execve(path, arguments, environment);
}
