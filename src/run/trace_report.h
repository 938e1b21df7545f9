// From a raw trace to a report: names for addresses, notes for what limits the
// result, sums that hold.
#pragma once

#include "core/report.h"
#include "trace/record_reader.h"

namespace plumb {

// Everything except what only the starter knows (command, duration, status).
Report report_from(const Trace& trace);

// "operator new[]" for a stack that begins in it, "strdup", or else `called`,
// the function of the malloc family that the runtime saw.
std::string api_of(const Stack& stack, const std::string& called);

}  // namespace plumb
