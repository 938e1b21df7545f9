// Completions for shells, from the table: commands, their options, the words
// that an option allows, files where a file is meant.
#pragma once

#include <string>

namespace plumb {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace plumb
