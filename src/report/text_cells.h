// Text as a terminal shows it: how many columns it takes, and made harmless.
//
// Names, paths and source lines come from other people's files. printable()
// is applied to each of them before anything is printed: control characters
// (ANSI escapes among them), invisible direction marks and bytes that are no
// UTF-8 become visible escapes such as \x1b. After it every character is one
// that a terminal only draws.
//
// Limit: widths follow a short table (wide East Asian and emoji ranges,
// combining marks), not the terminal's own version of Unicode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plumb {

std::string printable(std::string_view bytes);

// Columns that printable text takes.
std::size_t columns(std::string_view text);

// At most `most` columns: what is too much is taken out of the middle and
// replaced by "…". The end is kept longer than the start, since it tells
// paths and names apart.
std::string shortened(std::string_view text, std::size_t most);

// The columns [first, first + count) of printable text.
std::string cut_columns(std::string_view text, std::size_t first, std::size_t count);

// A source line with tabs expanded and everything printable.
struct Cells {
  std::string text;
  // The column at which byte i of the raw line is shown; one more entry for
  // the end. Compilers count columns in bytes.
  std::vector<std::size_t> column_of;
};
Cells cells_of(std::string_view raw_line);

}  // namespace plumb
