// How often a finding like this one is right.
//
// That a path was replayed and that nothing known forbids it is not that it can be: what a
// path takes for granted may be wrong. Which assumptions are wrong more often than not was
// counted over findings that people had read (docs/benchmarks.md, "What tells true findings
// from false ones"); the confidence of a finding is the share of true ones among those of
// its class there. Most of what could be asked of a path turned out to say nothing: how many
// decisions it leaves open, about fields or statuses, in loops, behind how many calls. What
// is left is few classes, each for a reason that a reader can check.
//
// Limits: counted in C; leaks alone, and of those not what an allocation that fails or an
// exception loses.
#pragma once

#include <cstdint>
#include <vector>

#include "check/summary/function_run.h"

namespace plumb::check {

enum class Doubt : std::uint8_t {
  none,
  // Nothing is known of the memory that the last assumption of the path is about.
  unknown_memory,
  // The block is made several calls further down, in certain cases only: that it was made at all
  // is told by summaries.
  made_below,
};

Doubt doubt_of(const Candidate& candidate, const std::vector<Summary>& summaries);

double confidence_of(Doubt doubt);

}  // namespace plumb::check
