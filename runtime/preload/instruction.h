// How long an instruction at the beginning of a function is, when it may be moved to
// another place.
//
// What compilers begin functions with: saving registers, making room on the stack,
// copying and testing arguments. Everything else is not understood, above all jumps
// and calls.
#pragma once

#include <stdint.h>

namespace plumb::rt {

struct Movable {
  unsigned length;    // 0: it must stay
  unsigned relative;  // where 4 bytes say how far away something is; 0: nowhere
};
Movable movable(const uint8_t* code);

}  // namespace plumb::rt
