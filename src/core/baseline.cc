#include "core/baseline.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/accounting.h"
#include "core/fingerprint.h"
#include "core/place.h"

namespace plumb {

namespace {

using Indices = std::vector<std::size_t>;

struct Pairing {
  const Report& before;
  const Report& now;
  std::vector<std::optional<std::size_t>>& partner;  // of each leak of `now`

  PlacedLeak old_leak(std::size_t i) const { return {&before.leaks[i], &before}; }
  PlacedLeak new_leak(std::size_t i) const { return {&now.leaks[i], &now}; }
};

// Equally many: they are taken for the same ones, in order.
void pair_in_order(const Indices& olds, const Indices& news, Pairing& pairing) {
  const std::size_t common = std::min(olds.size(), news.size());
  for (std::size_t i = 0; i < common; ++i) pairing.partner[news[i]] = olds[i];
}

// Every one of the fewer gets a partner among the more, in order, so that the
// distances add up to the least: the usual alignment table over both lists.
void pair_nearest(const Indices& fewer, const Indices& more, bool fewer_are_old, Pairing& pairing) {
  const std::size_t rows = fewer.size();
  const std::size_t columns = more.size();
  constexpr std::uint64_t kImpossible = std::numeric_limits<std::uint64_t>::max() / 2;
  std::vector<std::uint64_t> cost((rows + 1) * (columns + 1), kImpossible);
  const auto at = [&](std::size_t row, std::size_t column) -> std::uint64_t& {
    return cost[row * (columns + 1) + column];
  };
  const auto distance = [&](std::size_t row, std::size_t column) {
    const std::size_t old_index = fewer_are_old ? fewer[row] : more[column];
    const std::size_t new_index = fewer_are_old ? more[column] : fewer[row];
    return place_distance(pairing.old_leak(old_index), pairing.new_leak(new_index));
  };
  for (std::size_t column = 0; column <= columns; ++column) at(0, column) = 0;
  for (std::size_t row = 1; row <= rows; ++row) {
    for (std::size_t column = row; column <= columns - (rows - row); ++column) {
      const std::uint64_t paired = at(row - 1, column - 1) + distance(row - 1, column - 1);
      at(row, column) = std::min(at(row, column - 1), paired);
    }
  }
  std::size_t column = columns;
  for (std::size_t row = rows; row > 0; --row) {
    while (column > row && at(row, column - 1) <= at(row, column)) --column;
    const std::size_t old_index = fewer_are_old ? fewer[row - 1] : more[column - 1];
    const std::size_t new_index = fewer_are_old ? more[column - 1] : fewer[row - 1];
    pairing.partner[new_index] = old_index;
    --column;
  }
}

// Too many for the table: those that did not move find each other in one walk
// over both lists, the rest is paired in order.
void pair_unmoved_first(const Indices& olds, const Indices& news, Pairing& pairing) {
  Indices old_rest;
  Indices new_rest;
  std::size_t o = 0;
  std::size_t n = 0;
  while (o < olds.size() && n < news.size()) {
    const PlacedLeak before = pairing.old_leak(olds[o]);
    const PlacedLeak now = pairing.new_leak(news[n]);
    if (place_distance(before, now) == 0) {
      pairing.partner[news[n++]] = olds[o++];
    } else if (compare_places(before, now) < 0) {
      old_rest.push_back(olds[o++]);
    } else {
      new_rest.push_back(news[n++]);
    }
  }
  old_rest.insert(old_rest.end(), olds.begin() + static_cast<std::ptrdiff_t>(o), olds.end());
  new_rest.insert(new_rest.end(), news.begin() + static_cast<std::ptrdiff_t>(n), news.end());
  pair_in_order(old_rest, new_rest, pairing);
}

void pair_group(const Indices& olds, const Indices& news, Pairing& pairing) {
  constexpr std::size_t kLargestTable = 10'000;  // pairs of leaks to compare
  if (olds.size() == news.size()) {
    pair_in_order(olds, news, pairing);
  } else if (olds.size() > kLargestTable / news.size()) {
    pair_unmoved_first(olds, news, pairing);
  } else if (olds.size() < news.size()) {
    pair_nearest(olds, news, true, pairing);
  } else {
    pair_nearest(news, olds, false, pairing);
  }
}

}  // namespace

std::vector<std::optional<std::size_t>> pair_leaks(const Report& before, const Report& now) {
  std::vector<std::optional<std::size_t>> partner(now.leaks.size());
  const IdentityGroups old_groups = group_by_identity(before);
  const IdentityGroups new_groups = group_by_identity(now);
  Pairing pairing{before, now, partner};
  for (const auto& [key, news] : new_groups.members) {
    const auto olds = old_groups.members.find(key);
    if (olds != old_groups.members.end()) pair_group(olds->second, news, pairing);
  }
  return partner;
}

void apply_baseline(Report& report, const Report& baseline) {
  const std::vector<std::optional<std::size_t>> partner = pair_leaks(baseline, report);
  for (std::size_t i = 0; i < report.leaks.size(); ++i) {
    if (partner[i]) report.leaks[i].known = true;
  }
  recount_hidden(report);
}

}  // namespace plumb
