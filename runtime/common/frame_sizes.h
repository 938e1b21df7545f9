// Remembers how far the return address of one frame lies from the next one's.
//
// Unwinding by tables is slow: it reads a program for each frame. But most functions
// have a frame of one size at any given call, so what was found once is tried again:
// the word at that distance must be a return address that is known as well. A call
// for which two distances were seen (a function with alloca, an aligned frame) is
// never tried again.
//
// Limit: where a function of varying frames was seen with one size only, a stale
// return address may lie at that distance. Then the outer part of the stack is that
// of an earlier call.
#pragma once

#include <stdint.h>

namespace plumb::rt {

class FrameSizes {
 public:
  // In place of a size:
  static constexpr uint64_t kUnknown = 0;
  static constexpr uint64_t kVaries = (1u << 17) - 1;
  static constexpr uint64_t kLast = kVaries - 1;  // no frame behind it

  // In words.
  uint64_t find(uintptr_t address) const {
    const uint64_t entry = __atomic_load_n(&entries_[place_of(address)], __ATOMIC_RELAXED);
    return entry >> kSizeBits == address ? entry & kVaries : kUnknown;
  }
  void learn(uintptr_t address, uint64_t bytes) {
    put(address, bytes % 8 == 0 && bytes != 0 && bytes / 8 < kLast ? bytes / 8 : kVaries);
  }
  void learn_last(uintptr_t address) { put(address, kLast); }
  // Code may be another one than it was.
  void begin_epoch(uint32_t epoch) {
    if (__builtin_expect(__atomic_load_n(&epoch_, __ATOMIC_RELAXED) == epoch, 1)) return;
    __atomic_store_n(&epoch_, epoch, __ATOMIC_RELAXED);
    for (uint64_t& entry : entries_) __atomic_store_n(&entry, 0, __ATOMIC_RELAXED);
  }

 private:
  void put(uintptr_t address, uint64_t size) {
    if (address >> (64 - kSizeBits) != 0) return;
    uint64_t& entry = entries_[place_of(address)];
    const uint64_t known = __atomic_load_n(&entry, __ATOMIC_RELAXED);
    if (known >> kSizeBits == address && (known & kVaries) != size) size = kVaries;
    __atomic_store_n(&entry, uint64_t{address} << kSizeBits | size, __ATOMIC_RELAXED);
  }

  // The address and the size in one word: threads share the table without a lock.
  static constexpr unsigned kSizeBits = 17;
  static constexpr unsigned kBits = 16;
  static unsigned place_of(uintptr_t address) {
    return static_cast<unsigned>((address * 0x9e3779b97f4a7c15u) >> (64 - kBits));
  }

  uint32_t epoch_ = 0;
  uint64_t entries_[1u << kBits];
};

}  // namespace plumb::rt
