// --stats: what each step took, and how much memory at most.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/suppression.h"

namespace plumb {

class Stats {
 public:
  // Ends the step that began at the last call or at the start.
  void step(std::string_view name);
  void count(std::string_view name, std::uint64_t number);
  void suppressions(const std::vector<Suppression>& entries);

  std::string text() const;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  std::vector<std::string> lines_;
};

}  // namespace plumb
