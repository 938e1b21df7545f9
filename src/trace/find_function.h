// Where a function is in a file, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace plumb {

// Its address as the file's program headers count; nothing when the file (or the debug
// file that belongs to it) has no such function. `name` is the symbol, or as the source
// has it ("Pool::take(unsigned long)", "Pool::take").
std::optional<std::uint64_t> find_function(const std::string& path, const std::string& name);

}  // namespace plumb
