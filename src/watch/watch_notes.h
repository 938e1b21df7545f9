// What limits a snapshot's result, and what was looked at but not called a
// leak, in words.
#pragma once

#include <vector>

#include "core/report.h"
#include "watch/snapshot.h"
#include "watch/verdict.h"

namespace plumb {

// Sites with stale blocks that are not leaks, by verdict.
struct VerdictCounts {
  struct Sum {
    std::uint64_t sites = 0;
    double bytes = 0;
  };
  Sum cache, start_up, few;
  double parted = 0;  // bytes of leaks that were freed as the program ended

  void add(const SiteJudgement& judged);
};

std::vector<Note> notes_of(const WatchSnapshot& snapshot, const VerdictCounts& counts,
                           const StalePolicy& policy);

}  // namespace plumb
