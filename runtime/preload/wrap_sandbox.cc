// Sandboxes that a program puts itself into: what the scan at the end needs is kept, and
// where it cannot be had the tracking ends before, so that the program goes on as alone.
//
// - chroot, and unmounting: /proc may be gone afterwards, so a descriptor of it is kept.
// - mlockall: our tables are large and have holes; they are not filled.
// Filters for system calls: wrap_filter.

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>

#include "common/maps.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "preload/export.h"

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

}  // namespace

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
