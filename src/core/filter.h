// Takes leaks out of a report's list and says so in the totals.
#pragma once

#include <cstdint>
#include <functional>

#include "core/report.h"

namespace plumb {

// Keeps the leaks for which `keep` holds; the others' blocks move to
// Totals::omitted_*.
void filter_leaks(Report& report, const std::function<bool(const Leak&)>& keep);

}  // namespace plumb
