#include "watch/arena.h"

#include <sys/resource.h>

#include "common/sys.h"

namespace plumb::rt {

ArenaRange arena_range;

namespace {

constexpr uint64_t kMostAddresses = uint64_t{4} << 30;
// What free windows may keep: their next blocks then need not wait for the kernel.
constexpr size_t kKeptPages = 64;
// Somebody may be waiting for the lock.
constexpr uint32_t kRemovedAtOnce = 128;

// The program may have little room; we take a small share of it, twice.
uint64_t wanted_addresses() {
  const uint64_t share = address_limit() / 32;
  return share < kMostAddresses ? share : kMostAddresses;
}

uintptr_t reserve(uint64_t size) {
  const long place =
      sys_mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return is_error(place) ? 0 : static_cast<uintptr_t>(place);
}

}  // namespace

uint64_t address_limit() {
  const auto limit_of = [](int what) {
    rlimit limit{};
    const long result = sys_call(SYS_prlimit64, 0, what, 0, reinterpret_cast<long>(&limit));
    return result != 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
  };
  const uint64_t addresses = limit_of(RLIMIT_AS);
  const uint64_t data = limit_of(RLIMIT_DATA);
  return addresses < data ? addresses : data;
}

bool Arena::prepare() {
  for (uint64_t size = wanted_addresses() / kChunk * kChunk; size >= kChunk;
       size = size / 2 / kChunk * kChunk) {
    const uintptr_t begin = reserve(size + kWindow);
    if (begin == 0) continue;
    alias_ = reserve(size);
    const size_t windows = size / kWindow;
    next_ = static_cast<uint32_t*>(own_pages(windows * sizeof *next_));
    dirty_ = static_cast<uint8_t*>(own_pages(windows));
    if (alias_ == 0 || next_ == nullptr || dirty_ == nullptr) return false;
    arena_range = {(begin + kWindow - 1) & ~(kWindow - 1), size};
    return commit_chunk();
  }
  return false;
}

bool Arena::commit_chunk() {
  if (committed_ + kChunkWindows > capacity()) return false;
  const uintptr_t place = address(committed_);
  if (shared_ && !share_chunk(place)) {
    // At the start there is another way; later on, memory is short.
    if (committed_ != 0) return false;
    shared_ = false;
  }
  if (!shared_) {
    const long mapped = sys_mmap(reinterpret_cast<void*>(place), kChunk, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (is_error(mapped)) return false;
    // One block in 64 kB must not take two megabytes.
    sys_call(SYS_madvise, mapped, kChunk, MADV_NOHUGEPAGE);
  }
  committed_ += kChunkWindows;
  return true;
}

bool Arena::share_chunk(uintptr_t place) {
  const long mapped = sys_mmap(reinterpret_cast<void*>(place), kChunk, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (is_error(mapped)) return false;
  // A huge page would show the touch of one block on all of them.
  sys_call(SYS_madvise, mapped, kChunk, MADV_NOHUGEPAGE);
  // An old size of 0 asks for a second mapping of the same shared pages.
  const uintptr_t other = alias_ + (place - arena_range.begin);
  const long alias = sys_call(SYS_mremap, mapped, 0, kChunk, MREMAP_MAYMOVE | MREMAP_FIXED,
                              static_cast<long>(other));
  if (is_error(alias)) {
    sys_mmap(reinterpret_cast<void*>(place), kChunk, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return false;
  }
  sys_call(SYS_madvise, alias, kChunk, MADV_DONTDUMP);
  return true;
}

// Gives the pages back; the next one to use them finds zeros.
void Arena::clear(size_t window, size_t windows) {
  if (gives_nothing_back_) return;
  sys_call(SYS_madvise, static_cast<long>(address(window)), static_cast<long>(windows * kWindow),
           shared_ ? MADV_REMOVE : MADV_DONTNEED);
}

void Arena::push(uint32_t& list, size_t window) {
  next_[window] = list;
  list = static_cast<uint32_t>(window) + 1;
}

size_t Arena::pop(uint32_t& list) {
  const size_t window = list - 1;
  list = next_[window];
  return window;
}

long Arena::take(size_t windows) {
  if (windows == 1 && dirty_free_ != 0) {
    const size_t window = pop(dirty_free_);
    kept_pages_ -= dirty_[window];
    return static_cast<long>(window);
  }
  if (clean_free_[windows] != 0) return static_cast<long>(pop(clean_free_[windows]));
  if (high_ + windows > committed_) {
    // The rest of a chunk that is too short for a row serves single windows.
    while (high_ < committed_) push(clean_free_[1], high_++);
    if (!commit_chunk()) return -1;
  }
  const size_t window = high_;
  high_ += windows;
  return static_cast<long>(window);
}

void Arena::give(size_t window, size_t windows, size_t written) {
  size_t pages = page_up(written) / kPage;
  if (pages < dirty_[window]) pages = dirty_[window];
  // One page may wait for the next look (trim): it is what the next block there needs.
  if (windows > 1 || (pages > 1 && kept_pages_ + pages > kKeptPages)) {
    clear(window, windows);
    pages = 0;
  }
  dirty_[window] = static_cast<uint8_t>(pages);
  kept_pages_ += pages;
  push(pages != 0 ? dirty_free_ : clean_free_[windows], window);
}

bool Arena::trim() {
  for (uint32_t removed = 0; kept_pages_ > kKeptPages; ++removed) {
    if (removed == kRemovedAtOnce) return false;
    const size_t window = pop(dirty_free_);
    clear(window, 1);
    kept_pages_ -= dirty_[window];
    dirty_[window] = 0;
    push(clean_free_[1], window);
  }
  return true;
}

void Arena::unlock_pages() {
  sys_call(SYS_munlock, static_cast<long>(arena_range.begin),
           static_cast<long>(committed_ * kWindow));
  if (shared_) {
    sys_call(SYS_munlock, static_cast<long>(alias_), static_cast<long>(committed_ * kWindow));
  }
  if (high_ < committed_) clear(high_, committed_ - high_);
}

bool Arena::make_own() {
  if (!shared_) return true;
  const size_t wanted = committed_;
  committed_ = 0;
  while (committed_ < wanted) {
    if (!share_chunk(address(committed_))) break;
    committed_ += kChunkWindows;
  }
  const bool all = committed_ == wanted;
  committed_ = wanted;
  return all;
}

bool Arena::make_private() {
  if (!shared_) return true;
  const size_t used = committed_ * kWindow;
  if (used == 0) return true;
  sys_call(SYS_munmap, static_cast<long>(alias_), static_cast<long>(used));
  return !is_error(sys_mmap(reinterpret_cast<void*>(arena_range.begin), used,
                            PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

}  // namespace plumb::rt
