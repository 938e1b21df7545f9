// Reports from files: JSON, raw traces or snapshots, told apart by their first
// bytes. A snapshot is judged by `policy`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/report.h"
#include "driver/settings.h"
#include "watch/verdict.h"

namespace plumb {

// "-" is standard input. Errors name the file and the place in it.
Result<Report> load_report(const std::string& path, const StalePolicy& policy = {});

// One report of all of them; `paths` is not empty.
Result<Report> load_reports(const std::vector<std::string>& paths, const StalePolicy& policy = {});

// What the options of `watch` and `report` say about staleness.
StalePolicy stale_policy(const Settings& settings);

}  // namespace plumb
