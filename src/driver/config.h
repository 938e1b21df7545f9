// plumb.toml: defaults for a project.
//
//   suppressions = ["leaks.supp"]     # options that several commands have
//   [report]                          # options of one command
//   kind = ["lost"]
//
// Keys are option names; a command's table wins over the top of the file.
// Paths are relative to the file. The whole file is checked, whatever command
// reads it: a key that nothing knows is an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "driver/settings.h"

namespace plumb {

inline constexpr const char* kConfigName = "plumb.toml";

// The nearest plumb.toml in `directory` or above it.
std::optional<std::string> find_config(const std::string& directory);

// Checks the text and stores what concerns the command. `path` names the file
// in messages and is what paths in it are relative to.
Result<void> apply_config(std::string_view text, const std::string& path, Settings& settings);

}  // namespace plumb
