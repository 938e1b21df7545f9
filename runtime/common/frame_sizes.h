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
    const uint64_t* line = line_of(address);
    for (unsigned i = 0; i < kLine; ++i) {
      const uint64_t entry = __atomic_load_n(&line[i], __ATOMIC_RELAXED);
      if (entry >> kSizeBits == address) return entry & kVaries;
    }
    return kUnknown;
  }
  void learn(uintptr_t address, uint64_t bytes) {
    put(address, bytes % 8 == 0 && bytes != 0 && bytes / 8 < kLast ? bytes / 8 : kVaries);
  }
  void learn_last(uintptr_t address) { put(address, kLast); }
  void learn_varies(uintptr_t address) { put(address, kVaries); }
  // Code may be another one than it was.
  void begin_epoch(uint32_t epoch) {
    const uint32_t before = __atomic_load_n(&epoch_, __ATOMIC_RELAXED);
    if (__builtin_expect(before == epoch, 1)) return;
    __atomic_store_n(&epoch_, epoch, __ATOMIC_RELAXED);
    if (before == 0) return;  // a fresh table: its pages are not there yet
    for (uint64_t& entry : entries_) __atomic_store_n(&entry, 0, __ATOMIC_RELAXED);
  }

 private:
  void put(uintptr_t address, uint64_t size) {
    if (address >> (64 - kSizeBits) != 0) return;
    uint64_t* line = const_cast<uint64_t*>(line_of(address));
    uint64_t* place = &line[address % kLine];  // when all are taken
    for (unsigned i = 0; i < kLine; ++i) {
      const uint64_t known = __atomic_load_n(&line[i], __ATOMIC_RELAXED);
      if (known != 0 && known >> kSizeBits != address) continue;
      if (known != 0 && (known & kVaries) != size) size = kVaries;
      place = &line[i];
      break;
    }
    __atomic_store_n(place, uint64_t{address} << kSizeBits | size, __ATOMIC_RELAXED);
  }

  // The address and the size in one word: threads share the table without a lock.
  // Addresses whose hash is the same share a line of the cache.
  static constexpr unsigned kSizeBits = 17;
#ifdef PLUMB_FEW_STACKS
  static constexpr unsigned kBits = 12;
#else
  static constexpr unsigned kBits = 16;
#endif
  static constexpr unsigned kLine = 8;
  const uint64_t* line_of(uintptr_t address) const {
    return &entries_[((address * 0x9e3779b97f4a7c15u) >> (64 - kBits)) & ~uint64_t{kLine - 1}];
  }

  uint32_t epoch_ = 0;
  alignas(64) uint64_t entries_[1u << kBits];
};

}  // namespace plumb::rt
