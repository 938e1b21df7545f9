// One finding for one cause, though several units have it: a source that was compiled
// twice with different flags, a static or inline function of a header.
#pragma once

#include <vector>

#include "core/report.h"

namespace plumb::check {

// Of leaks that are allocated and lost at the same places of the source, and held by the
// same, the one of which most is certain stays; of equals the first.
void keep_one_of_each(std::vector<Leak>& leaks);

}  // namespace plumb::check
