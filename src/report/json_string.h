// Text as a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace plumb::json {

// Appends `text` with its quotes. The result is always well-formed and always
// printable: bytes that are no UTF-8 become U+FFFD (names and paths are only
// bytes), and control characters, also DEL and the C1 ones that terminals
// obey, are escaped.
void append_string(std::string& out, std::string_view text);

// The start of `text` in quotes, for an error message.
std::string in_quotes(std::string_view text);

}  // namespace plumb::json
