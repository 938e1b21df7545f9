// What a TOML file may look like before it is given to the parser.
//
// toml++ limits the nesting of arrays and inline tables, but not the depth of
// dotted keys ("a.a.a. ..."), and frees its tables recursively: a deep enough
// key overflows the stack. No file that a person writes comes near the limit.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace plumb {

inline constexpr std::size_t kDeepestToml = 64;

// The number of the first line whose keys or brackets nest deeper than that.
std::optional<std::size_t> too_deep_toml_line(std::string_view text);

}  // namespace plumb
