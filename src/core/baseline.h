// What was known before: leaks of an older report that the newer one has too.
//
// Leaks are paired by identity (fingerprint.h). Where several share one, they
// are paired in the order of the source, nearest place in the function first,
// so that a run that sees only some of them pairs the right ones. Equally many
// are taken for the same ones, whatever moved between them.
// Limit: one that was mended while another of the same identity appeared in
// the same function is taken for the old one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/report.h"

namespace plumb {

// For each leak of `now`, the index of its partner in `before`, if any.
std::vector<std::optional<std::size_t>> pair_leaks(const Report& before, const Report& now);

// Marks as known what the baseline has. A leak that grew is still known.
void apply_baseline(Report& report, const Report& baseline);

}  // namespace plumb
