// Programs by name.
#pragma once

#include <string>

#include "base/result.h"

namespace plumb {

// The file that `name` means, as a shell would find it: through PATH unless it
// has a slash.
Result<std::string> find_program(const std::string& name);

// Clang 19 by Debian's name for it, or where Debian's package of LLVM puts it.
Result<std::string> find_clang(bool cxx);

}  // namespace plumb
