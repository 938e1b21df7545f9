#include "common/sys.h"

#include <time.h>

#include "common/text.h"

namespace plumb::rt {

namespace {

// A handler returns here; the kernel insists that we bring our own.
extern "C" __attribute__((naked, used)) void plumb_rt_restorer() {
  __asm__("movl $15, %eax\n\tsyscall");  // rt_sigreturn
}

}  // namespace

int proc_directory = -1;

int sys_open(const char* path) {
  constexpr long kHow = O_RDONLY | O_CLOEXEC;
  const long file = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), kHow);
  const char* inside = after(path, "/proc/");
  if (!is_error(file) || proc_directory < 0 || inside == nullptr) return static_cast<int>(file);
  return static_cast<int>(
      sys_call(SYS_openat, proc_directory, reinterpret_cast<long>(inside), kHow));
}

uint64_t sys_nanoseconds() {
  timespec now{};
  sys_call(SYS_clock_gettime, CLOCK_MONOTONIC, reinterpret_cast<long>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

void sys_sleep(uint64_t nanoseconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000u);
  time.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000u);
  sys_call(SYS_nanosleep, reinterpret_cast<long>(&time));
}

long sys_read_small(const char* path, char* to, size_t size) {
  const int file = sys_open(path);
  if (file < 0) return file;
  size_t filled = 0;
  while (filled < size) {
    const long got = sys_read(file, to + filled, size - filled);
    if (got == -4) continue;  // EINTR
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  sys_close(file);
  return static_cast<long>(filled);
}

long sys_sigaction(int signal, const KernelAction* action, KernelAction* old) {
  KernelAction full{};
  if (action != nullptr) {
    full = *action;
    full.flags |= kActionRestorer;
    full.restorer = plumb_rt_restorer;
  }
  return sys_call(SYS_rt_sigaction, signal,
                  reinterpret_cast<long>(action != nullptr ? &full : nullptr),
                  reinterpret_cast<long>(old), sizeof(uint64_t));
}

void sys_sigmask(int how, uint64_t mask, uint64_t* old) {
  sys_call(SYS_rt_sigprocmask, how, reinterpret_cast<long>(&mask), reinterpret_cast<long>(old),
           sizeof(uint64_t));
}

}  // namespace plumb::rt
