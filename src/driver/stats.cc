#include "driver/stats.h"

#include <sys/resource.h>

#include <fmt/format.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

void Stats::step(std::string_view name) {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> took = now - last_;
  last_ = now;
  lines_.push_back(fmt::format("{:<22} {:.3f} s", name, took.count()));
}

void Stats::count(std::string_view name, std::uint64_t number) {
  lines_.push_back(fmt::format("{:<22} {}", name, with_commas(number)));
}

void Stats::suppressions(const std::vector<Suppression>& entries) {
  for (const Suppression& entry : entries) {
    lines_.push_back(fmt::format("suppression {} {}: {}, {}{}", printable(entry.origin),
                                 printable(entry.name), count_of(entry.used_leaks, "leak"),
                                 count_of(entry.used_blocks, "block"),
                                 entry.expired ? " (expired)" : ""));
  }
}

std::string Stats::text() const {
  std::string text;
  for (const std::string& line : lines_) text += fmt::format("plumb: stats: {}\n", line);
  struct rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    text += fmt::format("plumb: stats: {:<22} {} KiB\n", "peak memory",
                        with_commas(static_cast<std::uint64_t>(usage.ru_maxrss)));
  }
  return text;
}

}  // namespace plumb
