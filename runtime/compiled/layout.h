// Where tracked blocks live, and what a drop writes about them.
//
// All tracked blocks lie in one arena at a power of two, so that "may this value
// refer to a block" is one shift and compare in the program's own code, and the
// shadow word of an address is another shift: 8 bytes for each 32 of the arena.
// A drop stores one word there: when (a logical time), where (a place number), and
// which half of the 32 bytes it is about. The newest word about a block that is
// younger than the block is where its last reference went.
//
// Two blocks never have bytes in the same 32: there are 16 bytes of a head between
// them. A value one past the end of a block lies in the next one's head, which may
// share its 32 bytes with that block's first 16: hence the half. It can hide a drop
// of the next block, but is never taken for one.
//
// Invariant: the shadow of the whole arena is mapped from the start, so that any
// value that passes the test, also one that is no pointer, can be written about.
// The constants are known to the pass (plugin/abi.h), too.
#pragma once

#include <stdint.h>

namespace plumb::rt {

#ifndef PLUMB_UNDER_TSAN
inline constexpr unsigned kArenaShift = 42;
inline constexpr uint64_t kArenaNumber = 8;  // of tracked blocks
#else
// Where ThreadSanitizer of LLVM 19 lets programs be that lie at a fixed address: below 2 TB,
// the shadow of drops as well. That of accesses is in what it keeps free.
inline constexpr unsigned kArenaShift = 39;
inline constexpr uint64_t kArenaNumber = 1;
#endif
inline constexpr uint64_t kPlainNumber = kArenaNumber + 1;  // the same without drops: mode=minimal
inline constexpr uint64_t kArenaSize = uint64_t{1} << kArenaShift;
inline constexpr uint64_t kArenaBegin = kArenaNumber << kArenaShift;
inline constexpr unsigned kShadowShift = 2;  // 8 bytes for 32
inline constexpr uint64_t kShadowBegin = kArenaBegin >> kShadowShift;
inline constexpr uint64_t kShadowSize = kArenaSize >> kShadowShift;
// Where blocks were accessed, by code that was compiled to say so: another such shadow.
inline constexpr uint64_t kUseShadow = uint64_t{1} << 41;
static_assert((kShadowBegin & kUseShadow) == 0 && kShadowSize <= kUseShadow);

// Functions that read or write a shadow.
#ifdef PLUMB_UNDER_TSAN
#define PLUMB_SHADOW __attribute__((no_sanitize("thread"), noinline))
#else
#define PLUMB_SHADOW
#endif

// Of a new block, so many bytes have no drops; for what is behind them, words
// older than the block are.
inline constexpr uint64_t kCleared = 256;

inline constexpr bool is_tracked(uint64_t value) { return value >> kArenaShift == kArenaNumber; }
inline bool in_arena(uint64_t value) {
  return (value >> kArenaShift) - kArenaNumber <= kPlainNumber - kArenaNumber;
}
inline uint64_t* shadow_of(uint64_t value) {
  return reinterpret_cast<uint64_t*>((value >> kShadowShift) & ~uint64_t{7});
}
// Of the 32 bytes, the half in which a value lies; a place's lowest bits are free.
inline uint64_t half_of(uint64_t value) { return value >> 4 & 1; }
// The 16 bytes that a word at this place of a shadow is about.
inline uint64_t unit_of(const uint64_t* word) {
  const uint64_t place = reinterpret_cast<uint64_t>(word) & ~kUseShadow;
  return (place << kShadowShift) + (*word & 1) * 16;
}

// A drop, and the birth of a block: time in the upper bits, so that words
// compare by time; below it the place (for a birth: the stack).
inline constexpr unsigned kPlaceBits = 26;
inline constexpr uint64_t kTick = uint64_t{1} << kPlaceBits;
inline constexpr uint64_t kPlaceMask = kTick - 1;
inline constexpr uint64_t kPlaceStep = 8;  // numbers of places are multiples of it
// Places from here on are noted at run time (place_notes.h), those below are
// bytes into the tables that the compiler made, all modules one after the other.
inline constexpr uint32_t kFirstNote = uint32_t{1} << (kPlaceBits - 1);

}  // namespace plumb::rt

// The calling thread's logical time; its place bits are 0. Each thread counts for
// itself: two drops of the same granule are ordered by memory itself, and a block
// carries the time of whoever freed it to whoever gets it next.
extern "C" {
extern __thread uint64_t __plumb_clock
    __attribute__((visibility("default"), tls_model("initial-exec")));
}
