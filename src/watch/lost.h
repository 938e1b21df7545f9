// What nothing referred to any more as the watched program ended (PLUMB_WATCH_LOST).
//
// That a sample is lost is exact; how many blocks it stands for is an estimate like all
// figures of a site. A block is lost or may be stale, never both.
#pragma once

#include "watch/snapshot.h"
#include "watch/verdict.h"

namespace plumb {

// Takes the lost blocks out of the site: a site of the same place that has only these.
WatchSite take_lost(WatchSite& site);

// The figures of all blocks of such a site.
SiteJudgement sum_of_lost(const WatchSite& lost, const WatchSnapshot& snapshot);

}  // namespace plumb
