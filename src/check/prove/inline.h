// One function with the bodies of those that it calls in their place: what the
// replay of a candidate runs, where the summaries of the callees say too little.
//
// The result is an ordinary body. Its symbols are the program's. The variables of a
// callee end where it returns; what it returns is a phi where the caller goes on.
// They end, too, where an exception leaves it, which then goes to the call's landing
// pad, or out of the caller when the call has none.
// Each operation knows which one of the caller it stands for.
//
// Callees that are large, never return, take variable arguments or are already being
// inlined stay calls.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "check/model/program.h"
#include "check/summary/function_run.h"

namespace plumb::check {

struct InlineLimits {
  unsigned depth = 3;
  std::size_t callee = 240;  // operations of a callee that does something to memory
  std::size_t maker = 500;   // of one that makes the block that is followed
  std::size_t other = 40;    // of any other
  std::size_t total = 5000;
  // Of the outermost function only these calls, in order; none: any.
  std::span<const std::uint32_t> only{};
};

struct Inlined {
  Function body;
  Origin site;                     // where the block is made in `body`
  std::vector<std::uint32_t> top;  // by operation: the caller's that it is part of
  std::vector<bool> own;           // by operation: the caller's itself
  unsigned calls = 0;              // that were replaced
  bool full = false;               // some were not, since there was no room for them
};

Inlined inline_callees(const Program& program, const std::vector<Summary>& summaries,
                       FunctionId function, const Origin& site, const InlineLimits& limits,
                       Reads* reads = nullptr);

}  // namespace plumb::check
