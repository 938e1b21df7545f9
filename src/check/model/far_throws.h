// Exceptions that can come from nearly anywhere.
//
// A check of the program's own that fails, a mutex that cannot be locked: what a large part
// of the program can throw by way of one function is like memory that has run out. No call
// is without it, nobody is prepared for it, and who reads that a block is lost then learns
// nothing. So a function that throws and that very many others lead to is taken as one that
// does not come back.
//
// Limits: by the calls that are known. Where it is one function that throws all errors of a
// program, also those that it expects, its exceptions are not followed any more.
#pragma once

#include <cstddef>

#include "check/model/program.h"

namespace plumb::check {

struct FarThrows {
  std::size_t callers = 100;  // from so many on, and
  std::size_t share = 40;     // from one in so many of all functions on
};

void forget_far_throws(Program& program, const FarThrows& limits = {});

}  // namespace plumb::check
