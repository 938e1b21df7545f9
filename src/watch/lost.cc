#include "watch/lost.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace plumb {

WatchSite take_lost(WatchSite& site) {
  const auto is_lost = [](const WatchBlock& block) { return block.lost && !block.parted; };
  WatchSite lost;
  lost.stack = site.stack;
  lost.api = site.api;
  lost.sums = site.sums;
  lost.frees = site.frees;
  std::ranges::copy_if(site.blocks, std::back_inserter(lost.blocks), is_lost);
  std::erase_if(site.blocks, is_lost);
  return lost;
}

SiteJudgement sum_of_lost(const WatchSite& lost, const WatchSnapshot& snapshot) {
  SiteJudgement sum;
  sum.verdict = SiteVerdict::leak;
  sum.confidence = 1;
  sum.first_birth = snapshot.now;
  double variance = 0;
  double true_bytes = 0;
  for (const WatchBlock& block : lost.blocks) {
    const double idle = snapshot.now - block.last;
    ++sum.stale_samples;
    sum.stale_blocks += block.weight;
    sum.stale_bytes += block.weight * block.size;
    sum.active += block.weight * (block.last - block.birth);
    sum.idle += block.weight * idle;
    sum.drag += block.weight * block.size * idle;
    sum.first_birth = std::min(sum.first_birth, block.birth);
    sum.last_touch = std::max(sum.last_touch, block.last);
    variance += block.weight * (block.weight - 1) * block.size * block.size;
    true_bytes += block.size;
  }
  if (sum.stale_blocks > 0) {
    sum.active /= sum.stale_blocks;
    sum.idle /= sum.stale_blocks;
  }
  const double deviation = 1.96 * std::sqrt(variance);
  sum.bytes_low = std::max(true_bytes, sum.stale_bytes - deviation);
  sum.bytes_high = sum.stale_bytes + deviation;
  return sum;
}

}  // namespace plumb
