// compile_commands.json, as CMake, Meson, Bear and others write it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "check/model/compile.h"

namespace plumb::check {

// `path` is the file, or the directory that has it. An Error names the place.
Result<std::vector<CompileJob>> read_database(const std::string& path);

}  // namespace plumb::check
