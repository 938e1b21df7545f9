#include "core/order.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/lead.h"
#include "core/place.h"

namespace plumb {

namespace {

// Larger figures come first; what is not known comes last.
double figure_or_none(const std::optional<Age>& age, std::optional<double> Age::* member) {
  if (!age || !((*age).*member) || std::isnan(*((*age).*member))) {
    return -std::numeric_limits<double>::infinity();
  }
  return *((*age).*member);
}

struct FilePlace {
  bool unknown = true;
  std::string_view file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  auto operator<=>(const FilePlace&) const = default;
};

FilePlace file_place(const Leak& leak, const Report& report) {
  const Frame* frame = primary_frame(leak, report);
  if (frame == nullptr) return {};
  return {frame->file.empty(), frame->file, frame->line.value_or(0), frame->column.value_or(0)};
}

struct Ranked {
  std::size_t index = 0;
  Count total;
  double figure = 0;
  FilePlace place;
};

Ranked rank(const Report& report, std::size_t index, SortKey key) {
  const Leak& leak = report.leaks[index];
  Ranked ranked{.index = index, .total = leak.total(), .figure = 0, .place = {}};
  if (key == SortKey::drag) ranked.figure = figure_or_none(leak.age, &Age::drag);
  if (key == SortKey::growth) ranked.figure = figure_or_none(leak.age, &Age::growth);
  if (key == SortKey::file) ranked.place = file_place(leak, report);
  return ranked;
}

// Less than zero: `a` comes first.
int by_key(const Ranked& a, const Ranked& b, SortKey key) {
  const auto larger_first = [](const auto& x, const auto& y) {
    return x > y ? -1 : (x < y ? 1 : 0);
  };
  if (key == SortKey::blocks) {
    if (const int by = larger_first(a.total.blocks, b.total.blocks); by != 0) return by;
  }
  if (const int by = larger_first(a.figure, b.figure); by != 0) return by;
  if (a.place != b.place) return a.place < b.place ? -1 : 1;
  if (const int by = larger_first(a.total.bytes, b.total.bytes); by != 0) return by;
  return larger_first(a.total.blocks, b.total.blocks);
}

}  // namespace

void sort_leaks(Report& report, SortKey key) {
  std::vector<Ranked> ranks;
  ranks.reserve(report.leaks.size());
  for (std::size_t i = 0; i < report.leaks.size(); ++i) {
    ranks.push_back(rank(report, i, key));
  }
  std::ranges::sort(ranks, [&](const Ranked& a, const Ranked& b) {
    const Leak& x = report.leaks[a.index];
    const Leak& y = report.leaks[b.index];
    if (x.kind != y.kind) return x.kind < y.kind;
    if (const int by = by_key(a, b, key); by != 0) return by < 0;
    if (x.id != y.id) return x.id < y.id;
    // Only where ids are not assigned yet.
    const auto place = compare_places({&x, &report}, {&y, &report});
    return place != 0 ? place < 0 : a.index < b.index;
  });
  std::vector<Leak> sorted;
  sorted.reserve(report.leaks.size());
  for (const Ranked& ranked : ranks) sorted.push_back(std::move(report.leaks[ranked.index]));
  report.leaks = std::move(sorted);
}

}  // namespace plumb
