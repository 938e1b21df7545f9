// The whole command but main(): from words to an ending.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/command.h"

namespace plumb {

// `name` is what the program was called as (plumb-cc is `plumb cc`), `arguments`
// what follows it. Everything is printed.
Ending run_driver(std::string_view name, const std::vector<std::string>& arguments);

// Ends the process as the Ending says.
[[noreturn]] void end_as(const Ending& ending);

}  // namespace plumb
