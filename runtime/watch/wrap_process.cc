// Ends and forks of the program, and what it does to all of its memory.
//
// A forked child is not watched: its blocks in the arena become its own, with
// what was in them, and it goes on with the plain allocator.

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/inside.h"
#include "common/process.h"
#include "common/sys.h"
#include "watch/export.h"
#include "watch/model.h"
#include "watch/watcher.h"

extern "C" {
extern void* __dso_handle;
int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_at_quick_exit(void (*)(void*), void*);
}

using namespace plumb::rt;

namespace {

// Only a watched process has blocks that its child would share.
bool forking = false;

void before_fork() {
  forking = is_us();
  if (forking) model().prepare_fork();
}
void after_fork_in_parent() {
  if (forking) model().after_fork_in_parent();
}
void after_fork_in_child() {
  if (forking) model().after_fork_in_child();
}

void at_end(void*) {
  if (is_us()) take_last_snapshot();
}

[[noreturn]] void leave(int status) {
  at_end(nullptr);
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
