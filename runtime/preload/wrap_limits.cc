// A program that limits its own address space (RLIMIT_AS) does not know of our
// tables, which reserve far more addresses than they use: without help it would be
// out of memory at once. It gets its limit and what we have on top, and is told the
// limit that it set.
//
// The tables of addresses grow with the heap, by a quarter of it.
// Limit: a program that it starts inherits the larger limit.

#include <errno.h>
#include <stdint.h>

#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "preload/export.h"

using namespace plumb::rt;

namespace {

// As the kernel has them; libc's header declares each function with another type.
struct Limit {
  uint64_t soft;
  uint64_t hard;
};
constexpr int kAddressSpace = 9;  // RLIMIT_AS
constexpr uint64_t kNone = ~uint64_t{0};

constexpr uint64_t kSpare = uint64_t{64} << 20;
// Above the program's hard limit, for the scan at the end.
constexpr uint64_t kForScan = uint64_t{256} << 20;

bool is_raised = false;
Limit wanted;  // as the program set it
Limit raised;

uint64_t raise(uint64_t limit, uint64_t more, uint64_t most) {
  if (limit == kNone) return limit;
  uint64_t own = kSpare + limit / 4 + more;
  for (size_t i = 0; i < own_range_count(); ++i) own += own_range(i).size();
  uint64_t sum = 0;
  if (__builtin_add_overflow(limit, own, &sum)) return kNone;
  return most != kNone && sum > most ? most : sum;
}

int finish(long result) {
  if (!is_error(result)) return 0;
  errno = static_cast<int>(-result);
  return -1;
}

bool is_ours(int pid, int resource) {
  return resource == kAddressSpace && is_us() && (pid == 0 || pid == process().pid);
}

int limit(int pid, int resource, const Limit* fresh, Limit* old) {
  if (!is_ours(pid, resource)) {
    return finish(sys_call(SYS_prlimit64, pid, resource, reinterpret_cast<long>(fresh),
                           reinterpret_cast<long>(old)));
  }
  Limit now{};
  long result = sys_call(SYS_prlimit64, 0, resource, 0, reinterpret_cast<long>(&now));
  if (is_error(result)) return finish(result);
  // Set by somebody else meanwhile: then that is what counts.
  const bool ours = is_raised && now.soft == raised.soft && now.hard == raised.hard;
  const Limit shown = ours ? wanted : now;
  if (fresh != nullptr) {
    if (fresh->soft > fresh->hard) return finish(-EINVAL);
    const Limit larger = {raise(fresh->soft, 0, now.hard),
                          raise(fresh->hard, kForScan + fresh->hard / 8, now.hard)};
    result = sys_call(SYS_prlimit64, 0, resource, reinterpret_cast<long>(&larger));
    if (is_error(result)) return finish(result);
    wanted = *fresh;
    raised = larger;
    is_raised = true;
  }
  if (old != nullptr) *old = shown;
  return 0;
}

}  // namespace

PLUMB_EXPORT int setrlimit(int resource, const Limit* fresh) noexcept {
  return limit(0, resource, fresh, nullptr);
}
PLUMB_EXPORT int setrlimit64(int resource, const Limit* fresh) noexcept {
  return limit(0, resource, fresh, nullptr);
}
PLUMB_EXPORT int getrlimit(int resource, Limit* old) noexcept {
  return limit(0, resource, nullptr, old);
}
PLUMB_EXPORT int getrlimit64(int resource, Limit* old) noexcept {
  return limit(0, resource, nullptr, old);
}
PLUMB_EXPORT int prlimit(int pid, int resource, const Limit* fresh, Limit* old) noexcept {
  return limit(pid, resource, fresh, old);
}
PLUMB_EXPORT int prlimit64(int pid, int resource, const Limit* fresh, Limit* old) noexcept {
  return limit(pid, resource, fresh, old);
}
