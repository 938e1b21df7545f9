#include "core/suppression.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/accounting.h"
#include "core/suppression_index.h"
#include "core/suppression_match.h"

namespace plumb {

namespace {

// What an entry covered in one report, but may not hide.
struct Refused {
  std::uint64_t leaks = 0;
  std::uint64_t blocks = 0;
};

bool has_room(const Suppression& entry, std::uint64_t blocks) {
  return !entry.max ||
         (entry.used_blocks <= *entry.max && blocks <= *entry.max - entry.used_blocks);
}

Note note_on(const Suppression& entry, const Refused& refused) {
  const std::string what =
      fmt::format("{} ({})", count_of(refused.leaks, "leak"), count_of(refused.blocks, "block"));
  if (entry.expired) {
    return {
        .code = "suppression-expired",
        .text = fmt::format("the suppression at {} expired on {}: {} it covers {} shown",
                            entry.label(), entry.expires, what, refused.leaks == 1 ? "is" : "are"),
        .remedy = "mend the leak, or give the entry a later date",
        .extra = {}};
  }
  return {.code = "suppression-max",
          .text = fmt::format(
              "the suppression at {} covers more than its max of {}: {} beyond it {} shown",
              entry.label(), count_of(entry.max.value_or(0), "block"), what,
              refused.leaks == 1 ? "is" : "are"),
          .remedy = "see what grew, or raise max",
          .extra = {}};
}

}  // namespace

std::string Suppression::label() const {
  return name.empty() ? origin : fmt::format("{} ({})", origin, name);
}

void apply_suppressions(Report& report, std::vector<Suppression>& entries, std::string_view today) {
  for (Suppression& entry : entries) {
    entry.expired = !entry.expires.empty() && entry.expires < today;
  }
  const SuppressionIndex index(entries, report);
  SuppressionMatcher matcher(report);
  std::vector<Refused> refused(entries.size());
  for (std::size_t i = 0; i < report.leaks.size(); ++i) {
    Leak& leak = report.leaks[i];
    if (leak.suppressed) continue;
    // A static finding has no blocks; it counts as one.
    const std::uint64_t blocks = std::max<std::uint64_t>(1, leak.direct.blocks);
    for (const std::uint32_t candidate : index.candidates(i)) {
      Suppression& entry = entries[candidate];
      if (!matcher.covers(entry, leak)) continue;
      if (entry.expired || !has_room(entry, blocks)) {
        ++refused[candidate].leaks;
        refused[candidate].blocks += blocks;
        continue;
      }
      ++entry.used_leaks;
      entry.used_blocks += blocks;
      leak.suppressed = Suppressed{.by = entry.label(), .reason = entry.reason, .extra = {}};
      break;
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (refused[i].leaks == 0) continue;
    entries[i].refused_leaks += refused[i].leaks;
    entries[i].refused_blocks += refused[i].blocks;
    report.notes.push_back(note_on(entries[i], refused[i]));
  }
  recount_hidden(report);
}

std::vector<const Suppression*> unused(const std::vector<Suppression>& entries) {
  std::vector<const Suppression*> list;
  for (const Suppression& entry : entries) {
    if (entry.used_leaks == 0 && entry.refused_leaks == 0) list.push_back(&entry);
  }
  return list;
}

}  // namespace plumb
