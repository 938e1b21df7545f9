// The manual page plumb(1), in roff, from the table.
#pragma once

#include <string>

namespace plumb {

std::string manual_page();

}  // namespace plumb
