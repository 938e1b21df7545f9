// On what it rests that a path went one way, where it could have gone the other.
//
// A replay follows one path with all that it knows. A decision that this leaves open is
// an assumption: that an argument has some value, that a callee fails, that a field which
// was there before the path began says this and not that. Each step of a path that is an
// assumption says about what, as a set of the kinds of values that the condition is made
// of. Nothing is said of a decision that the path itself decides.
//
// Limit: a value is told by where it was seen first; what unknown code may have written
// over is `unknown`, beside the kind of place that it was read from.
#pragma once

#include <cstdint>

namespace plumb::check {

using Grounds = std::uint16_t;

inline constexpr Grounds kOnArgument = 1;  // what the function was called with
inline constexpr Grounds kOnField = 2;     // what lies behind an argument, or behind a result
inline constexpr Grounds kOnGlobal = 4;
inline constexpr Grounds kOnCallee = 8;    // the result of a function of the program
inline constexpr Grounds kOnLibrary = 16;  // of one that the models know
inline constexpr Grounds kOnForeign = 32;  // of any other
inline constexpr Grounds kOnLocal = 64;    // what is in a variable or block of this path
inline constexpr Grounds kOnUnknown = 128;
inline constexpr Grounds kOnLater = 256;  // a result that came when the block was there

// Only memory from before the path, of which nothing is known any more: somebody has
// written there, or ways met of which each had something else.
inline bool is_unknown_memory(Grounds grounds) {
  return (grounds & kOnUnknown) != 0 && (grounds & ~(kOnUnknown | kOnField | kOnGlobal)) == 0;
}

}  // namespace plumb::check
