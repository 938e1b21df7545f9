// Which suppressions can cover a leak at all, so that a file of hundreds and a
// report of a hundred thousand leaks need not be compared pair by pair.
//
// Every glob contains a longest run of plain characters, and every text that
// it matches contains that run. All runs are searched in every name of the
// report once (base/literal_search.h). An entry is then filed under the one of
// its runs that the fewest leaks have; an entry with a run that none has can
// be forgotten. Entries without any run (kind only, "*") are always tried,
// those with a fingerprint are filed under it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/suppression.h"

namespace plumb {

class SuppressionIndex {
 public:
  // Entries and leaks are meant by their positions, which must not change.
  SuppressionIndex(const std::vector<Suppression>& entries, const Report& report);

  // The entries that may cover the leak, in their order.
  std::vector<std::uint32_t> candidates(std::size_t leak) const;

 private:
  using Numbers = std::vector<std::uint32_t>;

  const Report& report_;
  std::vector<Numbers> present_;  // the runs that each leak has
  std::vector<Numbers> by_run_;
  std::unordered_map<std::string, Numbers> by_id_;
  Numbers always_;
};

// The longest run of characters that a text matching the glob must contain.
std::string longest_literal(std::string_view glob);

}  // namespace plumb
