// Is a site a leak? Judged over all of its live samples together, since single
// blocks mislead: a block may rest for long and be used again.
//
// A block is stale when it was idle for longer than `times_active` times its
// active time or `share_of_run` of the whole run, whichever is less, for longer
// than `least_idle`, and for twice as long as any block of its site ever rested
// before it was used again or freed: a cache's entries come back, and where a site
// has both, only what is really given up counts. A site is
//   a leak         when enough samples are stale, more than are in use, and
//                  they were born all along the run: it still grows;
//   start-up data  when they were all born in one stretch;
//   a cache        when blocks that had rested were used again and none rests
//                  longer than that, or most are in use;
//   too few        to say when there are not enough samples.
// Epochs make a block's active time look longer than it was, never shorter: a
// short rest is not taken for staleness.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "watch/snapshot.h"

namespace plumb {

struct StalePolicy {
  double times_active = 10;
  double share_of_run = 0.3;
  double least_idle = 0;    // seconds of CPU time
  bool never_used = false;  // instead: not touched since the epoch of its birth
  std::uint64_t least_samples = 3;
  double share = 0.5;  // stale, of those that are stale or in use
  bool must_grow = true;
  bool list_all = false;  // report caches and start-up data, too
};

enum class SiteVerdict { leak, cache, start_up, few };
std::string_view word_of(SiteVerdict verdict);

struct SiteJudgement {
  SiteVerdict verdict = SiteVerdict::few;
  double confidence = 0;     // that it is a leak, 0 to 1
  double misled_chance = 1;  // so many stale among the samples, were fewer than half so
  bool by_growth_only = false;
  std::uint64_t stale_samples = 0;
  double stale_blocks = 0;  // scaled, as are the next ones
  double stale_bytes = 0;
  double bytes_low = 0;  // 95% interval
  double bytes_high = 0;
  double first_birth = 0;
  double last_touch = 0;
  double active = 0;  // mean of the stale blocks
  double idle = 0;
  double drag = 0;    // bytes times idle time
  double growth = 1;  // stale bytes, over those of them that were there at half-time
  std::vector<double> idle_histogram;  // all live blocks by power of two of idle seconds
};

SiteJudgement judge_site(const WatchSite& site, const WatchSnapshot& snapshot,
                         const StalePolicy& policy);

}  // namespace plumb
