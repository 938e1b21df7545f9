// What the source writes where a branch is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plumb::check {

// The condition that begins at this column (from 1) of a line: up to the
// parenthesis that closes it, the next && or ||, or the end of the line, without
// the negations in front, which a branch of the IR does not have. Empty when there is nothing that
// could be shown.
std::string condition_at(std::string_view line, std::uint32_t column);

// The reason given behind `plumb: ignore` in a comment of this line; `found` says
// whether there is one.
std::string ignore_reason(std::string_view line, bool& found);

}  // namespace plumb::check
