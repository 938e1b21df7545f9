#include "base/pool.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace plumb {

namespace {

constexpr std::size_t kRegion = std::size_t{1} << 36;
constexpr std::size_t kPage = std::size_t{1} << 16;  // all of one class
constexpr std::size_t kRun = std::size_t{1} << 13;   // cut up at a time

// Steps of 16 bytes up to 512, of 64 beyond.
constexpr std::size_t kFine = 512;
constexpr std::size_t kFineClasses = kFine / 16;
constexpr std::size_t kClasses = kFineClasses + (kLargestPooled - kFine) / 64 + 1;

std::size_t class_of(std::size_t size) {
  if (size <= kFine) return size ? (size + 15) / 16 : 1;
  return kFineClasses + (size - kFine + 63) / 64;
}

std::size_t size_of(std::size_t klass) {
  return klass <= kFineClasses ? klass * 16 : kFine + (klass - kFineClasses) * 64;
}

struct Free {
  Free* next = nullptr;
  Free* next_list = nullptr;  // of the first of a list that was handed over
};

struct Lists {
  std::array<Free*, kClasses> first = {};
};

// What all threads share.
struct Shared {
  std::atomic_flag busy = {};
  std::array<Free*, kClasses> lists = {};  // handed over
  std::array<char*, kClasses> rest = {};   // of the page that is being cut
  std::array<char*, kClasses> end = {};
  std::size_t pages = 0;
};

constinit Shared shared;
constinit std::atomic<char*> region = nullptr;
std::array<std::uint8_t, kRegion / kPage> classes;  // by page
thread_local constinit Lists own{};

bool lock() {
  constexpr int kTries = 10000;
  for (int i = 0; i < kTries; ++i) {
    if (!shared.busy.test_and_set(std::memory_order_acquire)) return true;
    __builtin_ia32_pause();
  }
  return false;
}

void unlock() { shared.busy.clear(std::memory_order_release); }

// Where the thread ends, others get what it had.
struct HandOver {
  bool needed = false;
  ~HandOver() {
    if (!needed || !lock()) return;
    for (std::size_t klass = 1; klass < kClasses; ++klass) {
      Free* const list = own.first[klass];
      if (!list) continue;
      list->next_list = shared.lists[klass];
      shared.lists[klass] = list;
      own.first[klass] = nullptr;
    }
    unlock();
  }
};
thread_local HandOver hand_over;

char* reserve() {
  static char* const reserved = [] {
    void* at = mmap(nullptr, kRegion, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? nullptr : static_cast<char*>(at);
  }();
  return reserved;
}

// Cuts a run into blocks. The region is known, and the lock is held.
Free* cut(std::size_t klass) {
  const std::size_t size = size_of(klass);
  if (shared.end[klass] - shared.rest[klass] < static_cast<std::ptrdiff_t>(size)) {
    if (shared.pages == classes.size()) return nullptr;
    classes[shared.pages] = static_cast<std::uint8_t>(klass);
    shared.rest[klass] = region.load(std::memory_order_relaxed) + shared.pages++ * kPage;
    shared.end[klass] = shared.rest[klass] + kPage;
  }
  Free* first = nullptr;
  Free** last = &first;
  for (std::size_t used = 0; used < kRun; used += size) {
    if (shared.end[klass] - shared.rest[klass] < static_cast<std::ptrdiff_t>(size)) break;
    *last = reinterpret_cast<Free*>(shared.rest[klass]);
    last = &(*last)->next;
    shared.rest[klass] += size;
  }
  *last = nullptr;
  return first;
}

Free* refill(std::size_t klass) {
  if (!lock()) return nullptr;
  if (!region.load(std::memory_order_relaxed)) region.store(reserve(), std::memory_order_release);
  Free* list = shared.lists[klass];
  if (list) {
    shared.lists[klass] = list->next_list;
  } else if (region.load(std::memory_order_relaxed)) {
    list = cut(klass);
  }
  unlock();
  hand_over.needed = true;
  return list;
}

// A thread may free what others made and take nothing itself.
void begin_list() { hand_over.needed = true; }

}  // namespace

void* take_pooled(std::size_t size) noexcept {
  if (size > kLargestPooled) return nullptr;
  const std::size_t klass = class_of(size);
  Free* first = own.first[klass];
  if (!first) {
    first = refill(klass);
    if (!first) return nullptr;
  }
  own.first[klass] = first->next;
  return first;
}

bool give_pooled(void* block) noexcept {
  char* const from = region.load(std::memory_order_acquire);
  const std::size_t offset =
      reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(from);
  if (!from || offset >= kRegion) return false;
  const std::size_t klass = classes[offset / kPage];
  if (!own.first[klass]) begin_list();
  auto* const freed = static_cast<Free*>(block);
  freed->next = own.first[klass];
  own.first[klass] = freed;
  return true;
}

}  // namespace plumb
