// The statement that follows another one in the source: an optimiser may leave nothing of
// it, and then debug information has no line for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/source.h"

namespace plumb {

// The line of what runs after the statement that begins on this line, or of the brace that
// closes its block. Nothing when the text does not tell: a jump or a condition, several
// statements in a line, one that sets what it reads (`p = next(p);`), no file.
std::optional<std::uint32_t> next_statement(SourceCache& sources, const std::string& file,
                                            std::uint32_t line);

// The statement on this line gives the variable a value that it computes from the old one:
// `data = realloc(data, size);`.
bool sets_from_itself(SourceCache& sources, const std::string& file, std::uint32_t line,
                      std::string_view variable);

}  // namespace plumb
