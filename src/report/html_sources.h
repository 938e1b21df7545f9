// The source lines that the page shows, gathered before it is written, since a
// page that was mailed cannot read files.
//
// Per file, runs of lines: around each place of a leak (with the function's head
// where it is near, and all lines between two places of a fix window), and a few
// around each other frame of its stacks. Leaks come in the order of the report,
// so that what the bounds cut off belongs to the least of them.
//
// A report may come from anywhere and name any file, and a page is made to be
// handed on: only files that are named as sources are read.
#pragma once

#include <string>

#include "core/report.h"
#include "report/format.h"

namespace plumb {

// {"path as the report has it": [[first line, "text\ntext"], ...], ...}; sets
// `cut` when a bound left something out.
std::string html_sources(const Report& report, HtmlSources which, bool& cut);

}  // namespace plumb
