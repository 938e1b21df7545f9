// From a snapshot to a report: a leak for each site that is judged one, all
// figures scaled up from the samples; what limits the result as notes.
//
// Live memory that is not called stale is in use as far as anybody knows:
// `excluded` in the totals.
#pragma once

#include "core/report.h"
#include "watch/snapshot.h"
#include "watch/verdict.h"

namespace plumb {

// Everything except what only the starter knows (status).
Report report_from(const WatchSnapshot& snapshot, const StalePolicy& policy);

}  // namespace plumb
