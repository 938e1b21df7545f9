// Whole files in and out, with errors that name them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace plumb {

// "-" is standard input.
Result<std::string> read_file(const std::string& path);

// Writes to a temporary file beside `path` and renames it: no reader ever
// sees half of it.
Result<void> write_file(const std::string& path, std::string_view content);

}  // namespace plumb
