// What instrumented code and the runtime agree on; the runtime's side is
// runtime/compiled/layout.h and places.h.
#pragma once

#include <cstdint>

namespace plumb::pass {

inline constexpr unsigned kArenaShift = 42;
inline constexpr std::uint64_t kArenaNumber = 8;
inline constexpr unsigned kPlaceBits = 26;
inline constexpr unsigned kShadowShift = 2;    // 8 bytes for 32, the half in the lowest bit
inline constexpr unsigned kUseShadowBit = 41;  // what tells the shadow of accesses from it

inline constexpr const char* kSiteSection = "plumb_sites";
inline constexpr const char* kBias = "__plumb_bias";
// Accesses compare with this one instead of kArenaNumber: no number while nobody wants them.
inline constexpr const char* kUseArena = "__plumb_use_arena";
inline constexpr std::uint64_t kNoArena = ~std::uint64_t{0};
inline constexpr const char* kClock = "__plumb_clock";
inline constexpr const char* kDrop = "__plumb_drop";
// Entries of what drops share (thunks.h), by register, and for members; and the function that they
// are in.
inline constexpr const char* kThunk = "__plumb_drop_in_";
inline constexpr const char* kMemberThunk = "__plumb_drop_members";
inline constexpr const char* kThunks = "__plumb_drops_2";
inline constexpr const char* kDropRange = "__plumb_drop_range";
inline constexpr const char* kFree = "__plumb_free";
inline constexpr const char* kFreeing = "__plumb_freeing";
// The number changes with everything that is agreed on here, so that objects of
// another version are refused when they are linked or loaded.
inline constexpr const char* kRegister = "__plumb_register_3";
inline constexpr const char* kRegisterAccess = "__plumb_register_access_1";

// As trace/record.h numbers them.
enum class Cause : std::uint16_t {
  none = 0,
  overwritten = 1,
  scope_end = 2,
  holder_freed = 3,
  unmapped = 5,
  discarded = 7,
  escaped_throw = 8,
};
enum class Storage : std::uint16_t {
  none = 0,
  local = 1,
  parameter = 2,
  global = 3,
  heap = 4,
  thread = 5,
  temporary = 6,
};
enum class UseKind : std::uint16_t { access = 0, copy = 1, call = 2, arithmetic = 3 };

}  // namespace plumb::pass
