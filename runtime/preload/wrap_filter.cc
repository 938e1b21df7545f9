// Filters for system calls (seccomp) that a program puts itself behind: each is asked what it
// would say to the calls that we make. If it would end the program at one of them, nothing
// is tracked any more, and the program goes on as alone.
//
// Limit: filters that are installed without libc are not seen.

#include <errno.h>
#include <stdarg.h>

#include "common/inside.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "preload/export.h"
#include "preload/sandbox.h"

using namespace plumb::rt;

namespace {

constexpr uint64_t kHere = static_cast<uint64_t>(AT_FDCWD);
}  // namespace

namespace plumb::rt {

const SystemCall scan_calls[] = {
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

const size_t scan_call_count = sizeof scan_calls / sizeof *scan_calls;

}  // namespace plumb::rt

namespace {

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

bool forbids(const Filter* filter, SystemCalls calls) {
  return filter == nullptr || stands_in_the_way(*filter, calls.first, calls.count);
}

}  // namespace

void plumb::rt::before_filter(long operation, long flags, const void* data) {
  constexpr long kFilter = 1, kAllThreads = 1;
  if (!is_us() || !tracking()) return;
  const auto* filter = operation == kFilter ? static_cast<const Filter*>(data) : nullptr;
  if (operation == kFilter && (filter == nullptr || filter->steps == nullptr)) return;  // it fails
  if (forbids(filter, own_calls.spared)) do_without_spared_calls();
  const bool all = operation == kFilter && (flags & kAllThreads) != 0;
  if (forbids(filter, own_calls.needed) ||
      (own_calls.scans && forbids(filter, {scan_calls, scan_call_count})) ||
      (all && forbids(filter, own_calls.of_own_threads))) {
    give_up_in_sandbox();
    set_tracking(false);
    process().attached = 0;
  }
}

PLUMB_EXPORT int prctl(int option, ...) noexcept {
  constexpr int kSeccomp = 22;  // PR_SET_SECCOMP
  constexpr long kStrict = 1, kFilter = 2;
  va_list list;
  va_start(list, option);
  long arguments[4];
  for (long& argument : arguments) argument = va_arg(list, long);
  va_end(list);
  if (option == kSeccomp && (arguments[0] == kStrict || arguments[0] == kFilter)) {
    before_filter(arguments[0] - kStrict, 0, reinterpret_cast<const void*>(arguments[1]));
  }
  const long result =
      sys_call(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (!is_error(result)) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}
