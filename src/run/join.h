// What the scan found, and what watching found: one list of leaks.
//
// The scan decides what is lost and how much; watching adds, block by block,
// where it was allocated, lost and last used. Blocks are matched by name. What
// was not recognised, or not lost again, stays as the scan had it.
#pragma once

#include "core/report.h"
#include "trace/record_reader.h"

namespace plumb {

struct Joined {
  std::size_t located = 0;  // lost blocks (leaders) whose place is known now
  std::size_t missing = 0;  // ... of which the second run has no such block
  std::size_t other = 0;    // ... that it has, but not lost, or not known where
};

// A report of both. `watched` may be the same trace as `found`.
Report join_report(const Trace& found, const Trace& watched, Joined& joined);

}  // namespace plumb
