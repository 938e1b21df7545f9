// Reports from files: JSON or raw traces, told apart by their first bytes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "core/report.h"

namespace plumb {

// "-" is standard input. Errors name the file and the place in it.
Result<Report> load_report(const std::string& path);

// One report of all of them; `paths` is not empty.
Result<Report> load_reports(const std::vector<std::string>& paths);

}  // namespace plumb
