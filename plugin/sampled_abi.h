// What code compiled with -fplumb=sampled and its runtime agree on; the runtime's
// side is runtime/watch/bursts.h.
#pragma once

namespace plumb::pass {

// int (int* left, unsigned char* level): a check ran out. Nonzero: a burst begins
// (or goes on), go to the tracing version.
inline constexpr const char* kBurstBegins = "__plumb_burst_begins";
// int (): a check in the tracing version. Zero: the burst is over.
inline constexpr const char* kBurstGoesOn = "__plumb_burst_goes_on";
// Burst* (): where the burst of this thread is counted; the offsets in it:
inline constexpr const char* kBurstState = "__plumb_burst_state";
inline constexpr unsigned kStateLeft = 0;    // int: checks until it is over; 0 and below: it is
inline constexpr unsigned kStateRounds = 4;  // int: of short loops, until the next check
inline constexpr unsigned kStateArena = 8;   // uintptr_t: where sampled blocks lie
inline constexpr unsigned kStateArenaSize = 16;
// void (const void*): a sampled block is accessed.
inline constexpr const char* kTouch = "__plumb_touch";

// A check that the tracing version wants to run out has this bit beside its count.
inline constexpr unsigned kForced = 0x80000000u;

inline constexpr const char* kTwinSuffix = ".plumb_traced";

}  // namespace plumb::pass
