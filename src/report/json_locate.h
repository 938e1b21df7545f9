// Where a text stops being JSON. The fast parser does not say, so this slower
// one is asked when something is wrong, and for values that are kept without
// being understood.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace plumb::json {

// Objects and arrays inside each other; a report needs about ten.
inline constexpr std::size_t kDeepest = 256;

struct Flaw {
  std::size_t offset = 0;  // of the first byte that cannot stand there
  std::string what;
};

// The first flaw of one JSON value with blanks around it, or none. Needs no
// stack and no more memory than the longest string.
std::optional<Flaw> find_flaw(std::string_view text);

// ":LINE:COLUMN", both from 1, columns in bytes.
std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace plumb::json
