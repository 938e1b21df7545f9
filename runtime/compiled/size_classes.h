// Slot sizes: every 16 bytes up to 256, then four to a doubling up to 64 KB; in
// the large region four to a doubling of pages.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::rt {

inline constexpr unsigned kFineClasses = 15;  // 32, 48 ... 256
inline constexpr unsigned kSmallClasses = kFineClasses + 8 * 4;
inline constexpr unsigned kLargeClasses = 28 * 4;
inline constexpr size_t kLargestSmall = 64 * 1024;
#ifndef PLUMB_UNDER_TSAN
inline constexpr unsigned kRegionBits = 36;
#else
inline constexpr unsigned kRegionBits = 33;  // of a smaller arena (layout.h)
#endif

// Bytes that a slot of four to a doubling above `base` has.
inline constexpr size_t quarter_step(size_t base, unsigned step) {
  const size_t doubled = base << (step / 4);
  return doubled + doubled / 4 * (step % 4 + 1);
}
// The first step that has room.
inline constexpr unsigned quarter_step_for(size_t base, size_t bytes) {
  const unsigned doublings =
      static_cast<unsigned>(63 - __builtin_clzll((bytes - 1) / base));  // bytes > base
  const size_t doubled = base << doublings;
  const size_t quarter = doubled / 4;
  return doublings * 4 + static_cast<unsigned>((bytes - doubled + quarter - 1) / quarter) - 1;
}

inline constexpr size_t small_slot_size(unsigned slot_class) {
  return slot_class < kFineClasses ? 32 + 16 * size_t{slot_class}
                                   : quarter_step(256, slot_class - kFineClasses);
}
// `bytes` with the head, at least 17 and at most kLargestSmall.
inline constexpr unsigned small_class_for(size_t bytes) {
  if (bytes <= 32) return 0;
  if (bytes <= 256) return static_cast<unsigned>((bytes - 17) / 16);
  return kFineClasses + quarter_step_for(256, bytes);
}

// Slots that are passed on at a time.
inline constexpr unsigned batch_of(unsigned slot_class) {
  const size_t fitting = 8192 / small_slot_size(slot_class);
  return fitting > 32 ? 32 : fitting < 2 ? 2 : static_cast<unsigned>(fitting);
}

inline constexpr size_t large_slot_size(unsigned step) {
  return (quarter_step(kLargestSmall, step) + 4095) & ~size_t{4095};
}
inline constexpr unsigned large_class_for(size_t bytes) {
  return quarter_step_for(kLargestSmall, bytes);
}

static_assert(small_slot_size(small_class_for(17)) == 32);
static_assert(small_slot_size(small_class_for(33)) == 48);
static_assert(small_slot_size(small_class_for(256)) == 256);
static_assert(small_slot_size(small_class_for(257)) == 320);
static_assert(small_slot_size(small_class_for(512)) == 512);
static_assert(small_slot_size(small_class_for(513)) == 640);
static_assert(small_class_for(kLargestSmall) == kSmallClasses - 1);
static_assert(large_slot_size(large_class_for(kLargestSmall + 1)) == 80 * 1024);

}  // namespace plumb::rt
