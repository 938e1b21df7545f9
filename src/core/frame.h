// A place in the program, and stacks of them. What is not known is empty or
// absent, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/id.h"
#include "core/extra.h"

namespace plumb {

struct ModuleId : Id<ModuleId> {};  // index into Report::modules

struct Frame {
  std::string function;  // demangled
  std::string linkage;   // the symbol, where it differs from `function`
  std::string file;
  std::optional<std::uint32_t> line;
  std::optional<std::uint32_t> column;
  // Line on which `function` is declared: places inside a function can then
  // be compared although lines above it moved.
  std::optional<std::uint32_t> function_line;
  bool inlined = false;  // this frame was inlined into the next one
  std::optional<ModuleId> module;
  std::optional<std::uint64_t> offset;  // of the instruction, in the module
  Extra extra;

  bool operator==(const Frame&) const = default;
};

using Stack = std::vector<Frame>;  // innermost first

}  // namespace plumb
