// Leaks that share kind, resource, allocation stack and loss stack (and path)
// are one leak with the sums; reports of several processes are one report.
//
// Stacks are the same when every frame is: names, place, module and offset.
// What only one leak can have (last use, fix, loss holder) is the first's; a
// second holder is kept among `holders`. Merged leaks are hidden only when all
// of them were.
#pragma once

#include <vector>

#include "core/report.h"

namespace plumb {

// After this no two leaks of the list are mergeable. Keeps the first's order.
void merge_leaks(std::vector<Leak>& leaks);

// Makes every frame of the leak refer to the module that `renamed` has at the
// index of its old one. An index outside of it becomes "no module".
void rename_modules(Leak& leak, const std::vector<ModuleId>& renamed);

// One report of many: modules united (by path and build-id), totals added,
// leaks merged, ids assigned again, notes united. Subject and tool are the
// first's, and a note says how many were merged. Reports of `check` count no
// blocks: when one is among them, the result is a report of `check`, whose
// totals promise no sums. There must be at least one report.
Report merge_reports(std::vector<Report> reports);

}  // namespace plumb
