// What a user may write as the value of an option, whatever brings it: the
// command line, plumb.toml or PLUMB_OPTIONS.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/options.h"

namespace plumb {

// A value that is allowed, or an Error that says which ones are. `written` is
// how the user named the option ("--sort", "sort").
Result<void> check_value(const OptionSpec& option, std::string_view value,
                         std::string_view written);

// "lost,stale" -> {"lost", "stale"}; blanks around the words are dropped.
std::vector<std::string> list_words(std::string_view value);

}  // namespace plumb
