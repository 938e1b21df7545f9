// A variable of the program, as a report names it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace plumb {

struct FoundVariable {
  std::string name;  // with the way to the word: "table[3].name"
  std::string type;  // of the variable
  std::string storage;
  std::uint64_t function = 0;  // entry; 0: a global
  std::size_t index = 0;       // among the function's
};

}  // namespace plumb
