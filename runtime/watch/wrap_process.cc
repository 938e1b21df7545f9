// Ends and forks of the program, and what it does to all of its memory.
//
// A forked child's blocks in the arena become its own, with what was in them. It
// goes on with the plain allocator, or (--follow) is watched like its parent, with
// what that knew.

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/inside.h"
#include "common/memory.h"
#include "common/modules.h"
#include "common/process.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "common/syscall_stub.h"
#include "common/threads.h"
#include "preload/sandbox.h"
#include "watch/export.h"
#include "watch/model.h"
#include "watch/reach.h"
#include "watch/watcher.h"

extern "C" {
extern void* __dso_handle;
int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_at_quick_exit(void (*)(void*), void*);
}

using namespace plumb::rt;

namespace {

// Below the frame's base: the registers that a function must keep.
constexpr uintptr_t kSaved = 64;

// Only a watched process has blocks that its child would share.
bool forking = false;

void before_fork() {
  forking = is_us();
  if (!forking) return;
  model().prepare_fork();
  // In the order in which they are taken elsewhere.
  hold_threads();
  hold_modules();
  hold_own_memory();
}
void let_go_tables() {
  let_go_own_memory();
  let_go_modules();
  let_go_threads();
}
void after_fork_in_parent() {
  if (!forking) return;
  let_go_tables();
  model().after_fork_in_parent();
}
void after_fork_in_child() {
  if (!forking) return;
  let_go_tables();
  if (model().after_fork_in_child(watch_settings.follow)) watch_child();
}

// Registers that callers keep something in go to this frame; what is below it is ours.
// Threads that were stopped go on as late as can be: what they wait in has come back early.
// True: they still are.
__attribute__((noinline)) bool write_last_report() {
  if (!is_us()) return false;
  __builtin_unwind_init();
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const bool stopped = find_lost(watch_settings.search, frame - kSaved);
  take_last_snapshot();
  return stopped;
}

// libc writes what it has buffered after this, and may need a lock for it.
void at_end(void*) {
  if (write_last_report()) release_world();
}

[[noreturn]] void leave(int status) {
  write_last_report();
  while (true) sys_call(SYS_exit_group, status);
}

}  // namespace

namespace plumb::rt {

// Registered before anything of the program's: the exit handler runs last, the
// copy of the blocks is made when everybody else is ready for the fork.
void prepare_fork_handlers() {
  __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, &__dso_handle);
  __cxa_atexit(at_end, nullptr, nullptr);
  __cxa_at_quick_exit(at_end, nullptr);
}

}  // namespace plumb::rt

// fork without the handlers: async-signal-safe, and so no lock is waited for
// in a handler that interrupted us.
PLUMB_EXPORT pid_t _Fork() noexcept {
  static pid_t (*next)() = nullptr;
  if (next == nullptr) next = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "_Fork"));
  bool outermost = false;
  {
    Inside in;
    outermost = in.outermost();
  }
  if (!outermost || !is_us()) return next();
  before_fork();
  const pid_t child = next();
  if (child == 0)
    after_fork_in_child();
  else
    after_fork_in_parent();
  return child;
}

namespace {

struct CloneStart {
  int (*function)(void*);
  void* argument;
};

// In the child, which has its own copy of the start.
int start_clone(void* argument) {
  const CloneStart start = *static_cast<CloneStart*>(argument);
  after_fork_in_child();
  const int status = start.function(start.argument);
  // This ends a thread, not the process: ours must not be the one that is left.
  if (is_us()) end_watcher();
  return status;
}

}  // namespace

// A fork by another name, unless the memory is shared.
PLUMB_EXPORT int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
  using Clone = int (*)(int (*)(void*), void*, int, void*, ...);
  static Clone next = nullptr;
  if (next == nullptr) next = reinterpret_cast<Clone>(dlsym(RTLD_NEXT, "clone"));
  va_list rest;
  va_start(rest, argument);
  void* parent_number = va_arg(rest, void*);
  void* thread_area = va_arg(rest, void*);
  void* child_number = va_arg(rest, void*);
  va_end(rest);
  if ((flags & CLONE_VM) != 0 || function == nullptr || !is_us()) {
    return next(function, stack, flags, argument, parent_number, thread_area, child_number);
  }
  CloneStart start{function, argument};
  before_fork();
  const int child =
      next(start_clone, stack, flags, &start, parent_number, thread_area, child_number);
  const int saved = errno;
  after_fork_in_parent();
  errno = saved;
  return child;
}

// syscall(SYS_clone, ...) is a fork as well, and a filter can be installed so.
extern "C" __attribute__((used, visibility("hidden"))) bool plumb_rt_forks(long number, long first,
                                                                           long second,
                                                                           const void* third) {
  if (number == SYS_seccomp) {
    if (first == 0 || first == 1) before_filter(first, second, third);
    return false;
  }
  uint64_t flags = 0;
  if (number == SYS_clone) flags = static_cast<uint64_t>(first);
  if (number == SYS_clone3) {
    if (first == 0) return false;
    __builtin_memcpy(&flags, reinterpret_cast<const void*>(first), sizeof flags);
  }
  if ((flags & CLONE_VM) != 0 || !is_us()) return false;
  {
    Inside in;
    if (!in.outermost()) return false;
  }
  before_fork();
  return true;
}

extern "C" __attribute__((used, visibility("hidden"))) void plumb_rt_forked(long result) {
  if (result == 0)
    after_fork_in_child();
  else
    after_fork_in_parent();
}

extern "C" __attribute__((used, visibility("hidden"))) long plumb_rt_call_failed(long result) {
  errno = static_cast<int>(-result);
  return -1;
}

// As libc has it, but for clone, fork, clone3 and seccomp. In assembly, since the child may
// come back on another stack: only the kernel's registers lead it home.
PLUMB_EXPORT __attribute__((naked)) long syscall(long /*number*/, ...) noexcept {
  __asm__(
      "cmpq $56, %rdi\n\t"
      "je 1f\n\t"
      "cmpq $57, %rdi\n\t"
      "je 1f\n\t"
      "cmpq $435, %rdi\n\t"
      "je 1f\n\t"
      "cmpq $317, %rdi\n\t"
      "je 1f\n"
      "0:\n\t" PLUMB_STUB_CALL
      "1:\n\t" PLUMB_STUB_ASK(plumb_rt_forks)
      "testb %al, %al\n\t"
      "jz 0b\n\t" PLUMB_STUB_TO_KERNEL
      "syscall\n\t"
      "pushq %rbx\n\t"
      "pushq %r12\n\t"
      "movq %rax, %r12\n\t"
      "movq %rsp, %rbx\n\t"
      "andq $-16, %rsp\n\t"
      "movq %rax, %rdi\n\t"
      "call plumb_rt_forked\n\t"
      "movq %rbx, %rsp\n\t"
      "movq %r12, %rax\n\t"
      "popq %r12\n\t"
      "popq %rbx\n\t"
      PLUMB_STUB_RETURN PLUMB_STUB_FAILED);
}

// Locked pages keep their entries, and holes get pages: the arena stays out.
PLUMB_EXPORT int mlockall(int flags) noexcept {
  static int (*next)(int) = nullptr;
  if (next == nullptr) next = reinterpret_cast<int (*)(int)>(dlsym(RTLD_NEXT, "mlockall"));
  const int result = next(flags);
  const int saved = errno;
  if (result == 0 && is_us()) model().unlock_pages();
  errno = saved;
  return result;
}

PLUMB_EXPORT void _exit(int status) { leave(status); }
PLUMB_EXPORT void _Exit(int status) noexcept { leave(status); }
