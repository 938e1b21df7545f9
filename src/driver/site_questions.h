// For a program that plumb cc built and that is to track only the sites of a report
// (PLUMB_OPTIONS=sites=): is this allocation stack one of them?
//
// Standard input is a socket whose messages are stacks, a line "offset path" for each
// frame, innermost first; the answer is one byte, y or n. First of all one y says that
// the report was read.
#pragma once

#include <string>

#include "base/result.h"
#include "driver/command.h"
#include "run/sites.h"

namespace plumb {

// The allocations of a saved report: ours, LeakSanitizer's or memcheck's.
Result<Sites> load_sites(const std::string& path);

Result<Ending> answer_site_questions(const std::string& path);

}  // namespace plumb
