// System calls without libc: they touch neither errno nor anything that the
// program may have replaced, and they are no cancellation points. A failure is
// the negative error number.
#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

namespace plumb::rt {

inline long sys_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                     long f = 0) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

inline long sys_mmap(void* address, size_t size, int protection, int flags, int file,
                     uint64_t offset) {
  return sys_call(SYS_mmap, reinterpret_cast<long>(address), static_cast<long>(size), protection,
                  flags, file, static_cast<long>(offset));
}
inline bool is_error(long result) { return result < 0 && result > -4096; }

// Kept for when /proc is out of reach (chroot); -1: not needed so far.
extern int proc_directory;
// A file to read.
int sys_open(const char* path);
inline long sys_read(int file, void* to, size_t size) {
  return sys_call(SYS_read, file, reinterpret_cast<long>(to), static_cast<long>(size));
}
inline long sys_pread(int file, void* to, size_t size, uint64_t offset) {
  return sys_call(SYS_pread64, file, reinterpret_cast<long>(to), static_cast<long>(size),
                  static_cast<long>(offset));
}
inline void sys_close(int file) { sys_call(SYS_close, file); }
inline int sys_getpid() { return static_cast<int>(sys_call(SYS_getpid)); }
inline int sys_gettid() { return static_cast<int>(sys_call(SYS_gettid)); }
inline long sys_tgkill(int pid, int tid, int signal) {
  return sys_call(SYS_tgkill, pid, tid, signal);
}

uint64_t sys_nanoseconds();  // monotonic
void sys_sleep(uint64_t nanoseconds);
// Reads a small file whole; returns the bytes put into `to`, or negative.
long sys_read_small(const char* path, char* to, size_t size);

// The kernel's struct sigaction.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void (*restorer)();
  uint64_t mask;
};
inline constexpr unsigned long kActionInfo = 4;  // SA_SIGINFO
inline constexpr unsigned long kActionOnStack = 0x08000000;
inline constexpr unsigned long kActionRestart = 0x10000000;
inline constexpr unsigned long kActionRestorer = 0x04000000;

// Works for the signals that libc keeps for itself, too. The restorer is
// filled in. Either pointer may be null.
long sys_sigaction(int signal, const KernelAction* action, KernelAction* old);
// `how` as in sigprocmask; masks are one bit per signal, signal 1 is bit 0.
void sys_sigmask(int how, uint64_t mask, uint64_t* old);

inline constexpr uint64_t signal_bit(int signal) { return uint64_t{1} << (signal - 1); }

}  // namespace plumb::rt
