// From a raw trace to a report: names for addresses, notes for what limits the
// result, sums that hold.
#pragma once

#include <string_view>
#include <vector>

#include "core/report.h"
#include "trace/record_reader.h"
#include "trace/symbolise.h"

namespace plumb {

// A stack of the trace with names; modules are those of `symbols`.
Stack named_stack(const std::vector<TraceAddress>& addresses, Symboliser& symbols);

// A group's leak without its stack.
Leak leak_of(const TraceGroup& group);

// Ids, order, merged leaks, modules and notes: the report is complete but for
// what the starter knows.
void finish_report(Report& report, const Trace& trace, Symboliser& symbols);

// The tool, the process, and how much was allocated and freed.
Report begin_report(const Trace& trace);

// The C or C++ library, or the loader: nobody's own code.
bool is_system_library(std::string_view path);

// Everything except what only the starter knows (command, duration, status).
Report report_from(const Trace& trace);

// "operator new[]" for a stack that begins in it, "strdup", or else `called`,
// the function of the malloc family that the runtime saw.
std::string api_of(const Stack& stack, const std::string& called);

}  // namespace plumb
