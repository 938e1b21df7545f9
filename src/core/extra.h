// Members of a report that this version does not know. They are kept as they
// were (name and raw JSON text) and written again, so that an older plumb can
// filter a newer one's report without losing anything.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plumb {

using Extra = std::vector<std::pair<std::string, std::string>>;

}  // namespace plumb
