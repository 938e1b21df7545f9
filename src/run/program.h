// The program to run: whether a library can be preloaded into it. Everything that is known to fail
// is found before the start.
#pragma once

#include <string>

#include "base/result.h"

namespace plumb {

// An Error for what cannot be tracked: statically linked, 32-bit or foreign
// programs, those that run with another user's rights, and files that are no
// programs at all. A script is judged by its interpreter.
Result<void> check_program(const std::string& path);

}  // namespace plumb
