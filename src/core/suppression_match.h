// Whether a suppression covers a leak: the exact, slow test.
//
// Stacks differ between tools at their inner end. Valgrind's begin with the
// function it replaced (malloc, operator new); ours may, or may name it only
// as Allocation::api, and may show the plumbing above it. So a pattern for the
// allocation stack may start at any of the leading allocator frames, or at a
// frame that stands for the api, in front of any of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/suppression.h"

namespace plumb {

class SuppressionMatcher {
 public:
  // The report's modules must not change while this is in use.
  explicit SuppressionMatcher(const Report& report) : report_(report) {}

  bool covers(const Suppression& entry, const Leak& leak);

 private:
  struct Names {  // of a function
    std::string normalised;
    std::string_view stem;
    bool allocator = false;
  };
  using ApiNames = std::vector<std::string_view>;

  const Names& names_of(const std::string& function);
  std::size_t allocator_frames(const Stack& stack);
  bool covers_stack(const StackPattern& pattern, const Leak& leak);
  bool covers_allocation(const StackPattern& pattern, const Allocation& allocation);
  bool covers_plain(const StackPattern& pattern, const Stack& stack);
  bool covers_from(const StackPattern& pattern, std::span<const ApiNames* const> lead,
                   std::span<const Frame> frames);
  bool covers_frame(const FramePattern& pattern, const Frame& frame);

  const Report& report_;
  std::unordered_map<std::string, Names> names_;
  std::unordered_map<std::string, ApiNames> api_names_;
};

}  // namespace plumb
