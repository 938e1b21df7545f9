#include "common/memory.h"

#include <sys/resource.h>

#include "common/address_limit.h"
#include "common/spin_lock.h"
#include "common/sys.h"

extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern char _end[] __attribute__((visibility("hidden")));
}

namespace plumb::rt {

namespace {

// One entry per mapping: tables, and one leaf per 64 MB of heap addresses.
constexpr size_t kMaxRanges = size_t{1} << 17;
Range ranges[kMaxRanges];
size_t range_count = 0;
SpinLock ranges_lock;

void* remember(long result, size_t size) {
  if (is_error(result)) return nullptr;
  const uintptr_t begin = static_cast<uintptr_t>(result);
  ranges_lock.lock();
  const bool fits = range_count < kMaxRanges;
  if (fits) ranges[range_count++] = {begin, page_up(begin + size)};
  ranges_lock.unlock();
  if (!fits) {
    sys_call(SYS_munmap, result, static_cast<long>(size));
    return nullptr;
  }
  sys_call(SYS_madvise, result, static_cast<long>(size), MADV_DONTDUMP);
  return reinterpret_cast<void*>(result);
}

constexpr size_t kScanRoom = size_t{40} << 20;
constexpr size_t kTableRoom = size_t{17} << 20;
void* scan_room = nullptr;
void* table_rooms[2] = {};

// False: there is none left.
bool release_table_room() {
  for (void*& room : table_rooms) {
    void* const address = __atomic_exchange_n(&room, nullptr, __ATOMIC_ACQ_REL);
    if (address == nullptr) continue;
    release_own_pages(address, kTableRoom);
    return true;
  }
  return false;
}

}  // namespace

void* own_pages(size_t size) {
  const auto map = [size] {
    return sys_mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  long result = map();
  if (LiftedLimit limit(RLIMIT_AS); is_error(result) && limit.lift()) {
    result = map();
    limit.restore();
  }
  while (is_error(result) && release_table_room()) result = map();
  return remember(result, size);
}

void release_own_pages(void* address, size_t size) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(address);
  ranges_lock.lock();
  for (size_t i = range_count; i-- > 0;) {
    if (ranges[i].begin != begin) continue;
    ranges[i] = ranges[--range_count];
    break;
  }
  ranges_lock.unlock();
  sys_call(SYS_munmap, static_cast<long>(begin), static_cast<long>(size));
}

void* own_shared_pages(int file, uint64_t offset, size_t size) {
  return remember(
      sys_mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, offset),
      size);
}

void* ordinary_pages(size_t size) {
  const long result = sys_mmap(nullptr, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return is_error(result) ? nullptr : reinterpret_cast<void*>(result);
}

void reserve_room() {
  rlimit limit{};
  const long result = sys_call(SYS_prlimit64, 0, RLIMIT_AS, 0, reinterpret_cast<long>(&limit));
  if (result != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  scan_room = own_pages(kScanRoom);
  for (void*& room : table_rooms) room = own_pages(kTableRoom);
}

void release_scan_room() {
  if (scan_room != nullptr) release_own_pages(scan_room, kScanRoom);
  scan_room = nullptr;
}

void hold_own_memory() { ranges_lock.lock(); }
void let_go_own_memory() { ranges_lock.unlock(); }

size_t own_range_count() { return range_count; }
const Range* own_ranges() { return ranges; }
const size_t* own_range_counter() { return &range_count; }
Range own_range(size_t index) { return ranges[index]; }
Range own_module() {
  return {reinterpret_cast<uintptr_t>(__ehdr_start), page_up(reinterpret_cast<uintptr_t>(_end))};
}

}  // namespace plumb::rt
