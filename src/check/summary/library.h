// What functions that the program does not define do to memory: the models of
// models/*.models, by symbol name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"

namespace plumb::check {

// Bits of parameters.
using Params = std::uint32_t;

struct LibraryModel {
  bool allocates = false;  // the result is a new block
  bool zeroed = false;
  bool returns_or_allocates = false;  // realpath: a block if the parameter is null
  int alloc_to = -1;                  // a new block is stored through this parameter
  int grow_to = -1;                   // getline
  int reallocates = -1;
  int returns = -1;          // the result is this parameter
  int within = -1;           // the result points into this parameter, or is null
  int calls = -1;            // starts the function in this parameter with the next one
  bool result_zero = false;  // when the allocation succeeds
  bool result_positive = false;
  bool result_natural = false;  // not negative
  Params sizes = 0;             // how much to allocate: not zero
  Params frees = 0;
  Params keeps = 0;
  Params writes = 0;
  std::vector<std::pair<int, int>> changes;  // a parameter, and how many bytes there
  bool copies = false;                       // memcpy
  bool noreturn = false;
  bool throws = false;  // __cxa_throw
  std::string family = "malloc";
};

class Library {
 public:
  // Adds the models of a file; a line that is not understood is an error.
  Result<void> add(std::string_view text, std::string_view file);

  const LibraryModel* find(const std::string& symbol) const {
    const auto at = models_.find(symbol);
    return at == models_.end() ? nullptr : &at->second;
  }

 private:
  std::unordered_map<std::string, LibraryModel> models_;
};

}  // namespace plumb::check
