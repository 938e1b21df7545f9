// Every block allocated is in exactly one of freed, lost, stale, forgotten,
// excluded, and every leak of the list is in the total of its kind. Checked
// when a report is written and when it is read.
//
// `check` has no blocks at run time: for it only the counts of hidden leaks
// are compared.
#pragma once

#include "base/result.h"
#include "core/report.h"

namespace plumb {

// Sets the totals that follow from the list: suppressed and known. Call after
// suppressions and baselines were applied.
void recount_hidden(Report& report);

// An Error names the first sum that does not hold, with both figures.
Result<void> check_totals(const Report& report);

}  // namespace plumb
