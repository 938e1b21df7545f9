// Where a block of the source ends: debug information has no line for a closing brace
// that no code belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/source.h"

namespace plumb {

// The line of the brace that closes the block which has a declaration on this line.
// Nothing when the file cannot be read, or is not what it was.
std::optional<std::uint32_t> closing_brace(SourceCache& sources, const std::string& file,
                                           std::uint32_t declaration);

}  // namespace plumb
