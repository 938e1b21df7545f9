// A candidate of the analysis as a leak of the report: stacks, path, words.
#pragma once

#include <vector>

#include "check/model/program.h"
#include "check/summary/function_run.h"
#include "check/summary/library.h"
#include "core/report.h"

namespace plumb::check {

// One leak per cause: of candidates that share the allocation and the function
// that loses it, the one with the shortest path.
std::vector<Leak> make_findings(const Program& program, const Library& library,
                                const std::vector<Summary>& summaries,
                                const std::vector<Candidate>& candidates,
                                const std::vector<Candidate>& indirect);

}  // namespace plumb::check
