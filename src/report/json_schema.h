// "plumb-report/1" and "plumb-report/1.N": what a file says it is. A newer
// minor version only adds members, so it is read; a newer major one is not.
#pragma once

#include <string_view>

#include "base/result.h"

namespace plumb::json {

// N, or 0 when there is none. An Error for every other name.
Result<int> schema_minor(std::string_view name);

std::unexpected<Error> not_a_report(std::string_view why);

}  // namespace plumb::json
