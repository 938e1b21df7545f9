// Where the files are that come with the command: found from the place of the
// running executable, so that an installation can be moved and a build tree
// works like an installation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plumb {

// The absolute path of the running executable.
Result<std::string> executable_path();

// Where a support file may be for an executable at this place, most likely
// first: bin/plumb has ../lib/plumb/NAME; a test deeper in the build tree finds
// the same folder further up.
std::vector<std::string> support_candidates(std::string_view executable, std::string_view name);

// "libplumb_preload.so" -> its path.
Result<std::string> support_file(std::string_view name);

// The same for a library that goes into LD_PRELOAD, whose words end at a space
// or a colon.
Result<std::string> preload_library(std::string_view name);

}  // namespace plumb
