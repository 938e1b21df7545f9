// The last line of a text report, and the notes before it.
#pragma once

#include <string>

#include "core/report.h"
#include "report/text_flow.h"

namespace plumb {

// "3 leaks, 1,234 bytes lost in 12 blocks; 5 forgotten (80 bytes)." Hidden
// leaks are in none of these figures, but counted behind them.
std::string summary_line(const Report& report);

// What limits the result, each once, with the remedy. A few of them unless
// `all`; how many are left out is said.
std::string write_notes(const Report& report, const Page& page, bool all);

// "plumb 0.1.0 run (scan): ./server -p 80; pid 4242; exit status 0; 1.25 s"
std::string subject_line(const Report& report);

}  // namespace plumb
