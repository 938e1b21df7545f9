// The allocations that a saved report is about, ours or another tool's: where the
// second run is to look (`--sites`).
//
// LeakSanitizer's and memcheck's reports name functions and lines, not addresses
// that mean anything in another run. A site is recognised by those names, from the
// allocator outward; each part that both sides know must be the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/frame.h"

namespace plumb {

class Sites {
 public:
  // Reads LeakSanitizer's text, memcheck's text or its XML; `name` is for messages.
  static Result<Sites> read(std::string_view text, std::string_view name);

  // An allocation stack, innermost first. False: nothing in it can be recognised.
  bool add(const Stack& stack);
  bool has(const Stack& stack) const;
  std::size_t count() const { return stacks_.size(); }

 private:
  std::vector<Stack> stacks_;  // without the allocator's own frames
};

}  // namespace plumb
