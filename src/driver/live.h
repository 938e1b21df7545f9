// `plumb watch --serve`: the page of a running program, renewed while one looks at
// it. The report is asked for when a page wants news, and at most once in a while;
// when the program is gone, the last report stays and the page says so.
#pragma once

#include <functional>

#include "base/result.h"
#include "core/report.h"
#include "driver/settings.h"

namespace plumb {

// Until the process is ended. `look` gives the present report, or an Error when
// there is none any more; it is asked again, since the program may be restarted.
Result<void> serve_live(const Settings& settings, Report first,
                        const std::function<Result<Report>()>& look);

}  // namespace plumb
