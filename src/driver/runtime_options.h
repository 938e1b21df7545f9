// PLUMB_OPTIONS, as sanitizer users know such variables: key=value:key=value.
// A value with a colon or a blank in it is written in quotes ('...' or "...").
// An unknown key is named and ignored, as is a value that does not fit: the
// variable may be meant for another version, and the program must run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/settings.h"

namespace plumb {

inline constexpr const char* kRuntimeVariable = "PLUMB_OPTIONS";

// Stores what is known; returns one sentence for each part that is not.
std::vector<std::string> apply_runtime_options(std::string_view text, Settings& settings);

}  // namespace plumb
