// Sandboxes that a program puts itself into: what the scan at the end needs is kept, and
// where it cannot be had the tracking ends before, so that the program goes on as alone.
//
// - chroot, and unmounting: /proc may be gone afterwards, so a descriptor of it is kept.
// - seccomp: the filter is asked what it would say to the calls that we make. If it would
//   end the program at one of them, nothing is tracked any more.
// - mlockall: our tables are large and have holes; they are not filled.
// Limit: filters that are installed without libc are not seen.

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "common/maps.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "preload/export.h"
#include "preload/sandbox.h"

using namespace plumb::rt;

namespace {

int finish(long result) {
  if (!is_error(result)) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}

// --- /proc ---

void keep_proc() {
  if (!is_us() || !tracking() || proc_directory >= 0) return;
  constexpr int kDuplicate = 1030;  // F_DUPFD_CLOEXEC
  const long file = sys_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc"),
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (is_error(file)) return;
  // Out of the way of numbers that the program may count on.
  for (int least = 1000; least > 9; least /= 3) {
    const long kept = sys_call(SYS_fcntl, file, kDuplicate, least);
    if (is_error(kept)) continue;
    proc_directory = static_cast<int>(kept);
    break;
  }
  sys_close(static_cast<int>(file));
}

// --- seccomp ---

constexpr uint64_t kHere = static_cast<uint64_t>(AT_FDCWD);
// What the scan needs.
constexpr SystemCall kScanCalls[] = {
    {SYS_openat, {kHere, 0, O_RDONLY | O_CLOEXEC}},
    {SYS_read, {3}},
    {SYS_pread64, {3}},
    {SYS_close, {3}},
    {SYS_getdents64, {3}},
    {SYS_mmap, {0, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}}},
    {SYS_munmap, {}},
    {SYS_rt_sigprocmask, {}},
    {SYS_rt_sigaction, {33}},
    {SYS_rt_sigreturn, {}},
    {SYS_prlimit64, {}},
    {SYS_clock_gettime, {1}},
    {SYS_nanosleep, {}},
    {SYS_futex, {}},
    {SYS_getpid, {}},
    {SYS_gettid, {}},
    {SYS_tgkill, {}},
};

struct Filter {  // struct sock_fprog
  uint16_t count;
  const FilterStep* steps;
};

// Whether the program would be ended, or asked, at one of these calls.
bool stands_in_the_way(const Filter& filter, const SystemCall* calls, size_t count) {
  constexpr uint32_t kTrap = 0x00030000;
  constexpr uint32_t kAction = 0xffff0000;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t result =
        filter_result(filter.steps, filter.count, calls[i].number, calls[i].arguments) & kAction;
    if (result == 0 || (result & 0x80000000) != 0 || result == kTrap) return true;
  }
  return false;
}

void before_filter(bool strict, const void* data) {
  if (!is_us() || !tracking()) return;
  const Filter* filter = static_cast<const Filter*>(data);
  if (!strict && (filter == nullptr || filter->steps == nullptr)) return;  // it will fail
  const auto forbids = [=](const SystemCall* calls, size_t count) {
    return strict || stands_in_the_way(*filter, calls, count);
  };
  if (forbids(own_calls.spared, own_calls.spared_count)) do_without_spared_calls();
  if (!forbids(kScanCalls, sizeof kScanCalls / sizeof *kScanCalls) &&
      !forbids(own_calls.needed, own_calls.needed_count)) {
    return;
  }
  give_up_in_sandbox();
  set_tracking(false);
  process().attached = 0;
}

extern "C" __attribute__((used, visibility("hidden"))) void plumb_rt_before_call(long number,
                                                                                 long operation,
                                                                                 long,
                                                                                 const void* data) {
  constexpr long kStrict = 0, kFilter = 1;
  if (number == SYS_seccomp && (operation == kStrict || operation == kFilter)) {
    before_filter(operation == kStrict, data);
  }
}
extern "C" __attribute__((used, visibility("hidden"))) long plumb_rt_call_failed(long result) {
  errno = static_cast<int>(-result);
  return -1;
}

}  // namespace

PLUMB_EXPORT int prctl(int option, ...) noexcept {
  constexpr int kSeccomp = 22;  // PR_SET_SECCOMP
  constexpr long kStrict = 1, kFilter = 2;
  va_list list;
  va_start(list, option);
  long arguments[4];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  if (option == kSeccomp && (arguments[0] == kStrict || arguments[0] == kFilter)) {
    before_filter(arguments[0] == kStrict, reinterpret_cast<const void*>(arguments[1]));
  }
  return finish(
      sys_call(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]));
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

PLUMB_EXPORT int chroot(const char* path) noexcept {
  keep_proc();
  return finish(sys_call(SYS_chroot, reinterpret_cast<long>(path)));
}
PLUMB_EXPORT int umount2(const char* path, int flags) noexcept {
  keep_proc();
  return finish(sys_call(SYS_umount2, reinterpret_cast<long>(path), flags));
}
PLUMB_EXPORT int umount(const char* path) noexcept { return umount2(path, 0); }

PLUMB_EXPORT int mlockall(int flags) noexcept {
  constexpr int kCurrent = 1, kOnFault = 4;
  if (!is_us() || !tracking()) return finish(sys_call(SYS_mlockall, flags));
  const long result = sys_call(SYS_mlockall, flags | kOnFault);
  if (result == -EINVAL && (flags & ~(kOnFault - 1)) == 0) {
    return finish(sys_call(SYS_mlockall, flags));
  }
  if (result != -ENOMEM || (flags & kCurrent) == 0) return finish(result);
  // A limit that the program alone would not have reached: what is its own, one by one.
  OwnVector<Mapping> mappings;
  if (!read_maps(mappings)) return finish(result);
  long problem = 0;
  for (size_t i = 0; i < mappings.size() && problem == 0; ++i) {
    const Range& range = mappings[i].range;
    bool own = mappings[i].special || !mappings[i].readable;
    for (size_t j = 0; j < own_range_count() && !own; ++j) {
      own = range.begin < own_range(j).end && range.end > own_range(j).begin;
    }
    if (own) continue;
    const long locked = sys_call(SYS_mlock2, static_cast<long>(range.begin),
                                 static_cast<long>(range.size()), 1 /* on fault */);
    if (is_error(locked)) problem = locked;
  }
  mappings.release();
  if (problem == 0 && (flags & ~kCurrent) != 0) {
    problem = sys_call(SYS_mlockall, (flags & ~kCurrent) | kOnFault);
  }
  return finish(problem);
}
