// The report as SARIF 2.1.0, for GitHub code scanning and editors.
//
// One run. Rules are the finding kinds that occur, with their pages as help
// (explain.h). Results come with the most important first (not hidden, then by
// level, then in the order of the report), since GitHub shows the first 5,000
// and takes no more than 25,000; all are written, and a notification says so.
// Nothing throws: bytes that are no UTF-8 are replaced, numbers that readers
// cannot take are left out.
//
// Limits: frames have no end column, so a region runs to the end of its line.
// A leak of which neither a frame nor a module nor a command is known has no
// location.
#pragma once

#include <string>

#include "core/report.h"
#include "report/format.h"

namespace plumb {

std::string write_sarif(const Report& report, const RenderOptions& options);

}  // namespace plumb
