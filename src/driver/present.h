// A report as the user asked to see it: which format, how much, where to.
#pragma once

#include <string>

#include "base/result.h"
#include "core/report.h"
#include "driver/settings.h"
#include "report/format.h"

namespace plumb {

// --format, or what the name of the output file says, or text.
Format format_in_force(const Settings& settings);

// How a report is rendered for the file of --output, or else for the stream.
RenderOptions render_options(const Settings& settings, int stream);

// Checks that the totals add up. When they do not, that is our own mistake:
// it is said, and the report is still shown. False then.
bool check_report(const Report& report);

// "leaks.%p.json" -> "leaks.4242.json"
void name_process(Settings& settings, const Report& report);

// The report in the format in force; other formats than text are cut to
// --limit when the command line asks for it.
std::string rendered(Report& report, const Settings& settings, int stream);

}  // namespace plumb
