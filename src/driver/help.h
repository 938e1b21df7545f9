// --help, made from the table. Everything fits 80 columns; the first help a
// user sees, overall_help(), fits one screen of 24 lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/options.h"

namespace plumb {

inline constexpr std::size_t kHelpWidth = 80;

std::string overall_help();
std::string command_help(Command command);

// "--output=FILE", "--quiet"
std::string option_with_value(const OptionSpec& option);
// "[default: 20]", "[-30]" and the like are left to callers: the phrase that
// names the default, or empty.
std::string default_phrase(const OptionSpec& option);

// The options of a command that are its own, and those that others share.
struct OptionGroups {
  std::vector<const OptionSpec*> own;
  std::vector<const OptionSpec*> common;
};
OptionGroups option_groups(Command command);

}  // namespace plumb
