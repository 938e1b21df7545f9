// From what was measured to what counts: suppressions, the baseline, filters,
// the order, and whether anything is a finding.
//
//   Aids aids = load_aids(settings);      before a long run: fails early
//   hide(report, aids);                   marked, never dropped
//   filter_leaks(report, ...);
//   Verdict verdict = judge(report, settings);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/report.h"
#include "core/suppression.h"
#include "driver/settings.h"

namespace plumb {

// The files that --suppressions and --baseline name.
struct Aids {
  std::vector<Suppression> suppressions;
  std::optional<Report> baseline;
};
Result<Aids> load_aids(const Settings& settings);

// Marks what is suppressed or known, and counts it in the totals.
void hide(Report& report, Aids& aids);

// One sentence for each suppression that matched nothing or has expired.
std::vector<std::string> unused_suppressions(const std::vector<Suppression>& entries);

struct Verdict {
  std::uint64_t leaks = 0;  // not hidden, of a kind that --fail-on names
  std::uint64_t bytes = 0;
  bool findings = false;  // above the budget
};
Verdict judge(const Report& report, const Settings& settings);

// Without a budget any leak is a finding, also one of no bytes.
bool above_budget(std::uint64_t leaks, std::uint64_t bytes, std::uint64_t budget);

// Is this leak's kind one of the words?
bool has_kind(const Leak& leak, const std::vector<std::string>& kinds);

}  // namespace plumb
