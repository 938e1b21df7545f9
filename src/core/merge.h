// Leaks that share kind, resource, allocation stack and loss stack (and path)
// are one leak with the sums; reports of several processes are one report.
#pragma once

#include <vector>

#include "core/report.h"

namespace plumb {

// After this no two leaks of the list are mergeable. Keeps the first's order.
void merge_leaks(std::vector<Leak>& leaks);

// One report of many: modules united (by path and build-id), totals added,
// leaks merged, notes united. The reports must not be empty.
Report merge_reports(std::vector<Report> reports);

}  // namespace plumb
