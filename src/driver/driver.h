// The whole command but main(): from words to an ending.
#pragma once

#include <string>
#include <vector>

#include "driver/command.h"

namespace plumb {

// `arguments` without the program's own name. Everything is printed.
Ending run_driver(const std::vector<std::string>& arguments);

// Ends the process as the Ending says.
[[noreturn]] void end_as(const Ending& ending);

}  // namespace plumb
