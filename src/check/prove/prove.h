// The second stage: each candidate alone.
//
// The first stage merges states wherever paths meet, so that it costs about as
// much as compiling, and so it takes paths for possible that are not. Here the
// block of one candidate is followed path by path from the function's entry to
// the loss. Each path keeps all that it learned; plain contradictions end it on
// the way, and what is left is put to the solver. A candidate is dropped when no
// path remains, and undecided when a budget ran out first. What is left is looked at
// once more with what the function's callers pass it, where all of them are known (passed.h).
#pragma once

#include <cstdint>
#include <vector>

#include "check/model/program.h"
#include "check/summary/function_run.h"
#include "check/summary/kept_results.h"

namespace plumb::check {

struct ProveLimits {
  std::uint64_t path_work = 30000;     // operations per candidate and step
  unsigned solver_steps = 400000;      // per query
  unsigned queries = 12;               // per candidate
  std::uint64_t all_steps = 40000000;  // in total, shared out evenly
};

struct Proved {
  std::vector<Candidate> candidates;  // what is left; each says whether it is proved
  std::uint64_t sites = 0;            // that candidates came for
  std::uint64_t no_path = 0;          // refuted by plain contradictions
  std::uint64_t unsatisfiable = 0;    // refuted by the solver
  std::uint64_t by_callees = 0;       // refuted with the callees' bodies in place
  std::uint64_t undecided = 0;
  std::uint64_t queries = 0;
};

// `kept`: verdicts of earlier runs, if there are any.
Proved prove(const Program& program, const Library& library, const std::vector<Summary>& summaries,
             std::vector<Candidate> candidates, const Limits& limits, const ProveLimits& budget,
             KeptResults* kept, unsigned threads);

}  // namespace plumb::check
