// Which leaks `plumb report` was asked for.
#pragma once

#include "core/report.h"
#include "driver/settings.h"

namespace plumb {

// Leaves in the list what --kind, --file, --function, --module, --id and
// --min-size allow; the rest moves to the totals' omitted figures.
void apply_filters(Report& report, const Settings& settings);

// The first `limit` leaks that are not hidden (all when `show_hidden`), for
// formats other than text.
void cut_list(Report& report, std::size_t limit, bool show_hidden);

}  // namespace plumb
