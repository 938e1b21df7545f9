// Allocators of the program's own that are named on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace plumb {

struct CustomFunction {
  bool frees = false;     // otherwise it allocates
  std::string name;       // as the source or the symbol table has it
  unsigned argument = 1;  // the size, or the block
};

// "pool_take:size=2" (`key` is "size"), or without the argument: the first one.
Result<CustomFunction> parse_custom_function(const std::string& text, bool frees);

// What the runtime is told: record.h's "fn=", for a function of the program, or of a
// library when the program has none of that name.
std::string setting_for(const CustomFunction& function, const std::string& program);

}  // namespace plumb
