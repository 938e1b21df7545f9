// Where watched processes of this user are found: a folder that only the user
// can look into, with a socket for each process.
#pragma once

#include <string>

#include "base/result.h"

namespace plumb {

// $XDG_RUNTIME_DIR/plumb, or /tmp/plumb-UID; made when it is not there. An
// Error when somebody else could look into it.
Result<std::string> watch_folder();

}  // namespace plumb
