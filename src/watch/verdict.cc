#include "watch/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plumb {

namespace {

// The run is cut into so many stretches, and a leak has births in most halves.
constexpr std::size_t kStretches = 8;
constexpr std::size_t kLeastStretches = 3;
// "Born in one stretch at the start": before this share of the run.
constexpr double kEarly = 0.25;
// A block is given up when it rests so many times as long as any of its site
// ever did before it was used again or freed.
constexpr double kTimesRest = 2;
// Growth alone is right in about half of the cases.
constexpr double kGrowthConfidence = 0.5;

// The chance of `hits` or more of `tries`, each with chance 1/2.
double tail_of_half(std::uint64_t hits, std::uint64_t tries) {
  if (hits == 0 || tries == 0) return 1;
  if (tries > 1000) return hits * 2 > tries ? 0 : 1;
  double term = std::exp2(-static_cast<double>(tries));  // none of them
  double sum = 0;
  for (std::uint64_t k = 0; k <= tries; ++k) {
    if (k >= hits) sum += term;
    term = term * static_cast<double>(tries - k) / static_cast<double>(k + 1);
  }
  return std::min(sum, 1.0);
}

// The lower end of what the true share may be (Wilson, one standard error).
double sure_share(std::uint64_t hits, std::uint64_t tries) {
  if (tries == 0) return 0;
  const double n = static_cast<double>(tries);
  const double p = static_cast<double>(hits) / n;
  return std::max(0.0, (p + 0.5 / n - std::sqrt(p * (1 - p) / n + 0.25 / (n * n))) / (1 + 1 / n));
}

// An epoch at least: whatever is shorter was not seen.
double least_rest(const StalePolicy& policy, double epoch, double longest_rest) {
  return std::max(
      {policy.least_idle, std::max(policy.times_active, 1.0) * epoch, kTimesRest * longest_rest});
}

bool is_stale(const WatchBlock& block, double now, double epoch, double longest_rest,
              const StalePolicy& policy) {
  if (!block.observed) return false;
  const double idle = now - block.last;
  const double least = least_rest(policy, epoch, longest_rest);
  if (policy.never_used) return block.touches <= 1 && idle > std::max(policy.least_idle, epoch);
  const double rest =
      std::min(policy.times_active * (block.last - block.birth), policy.share_of_run * now);
  return idle > least && idle > rest;
}

// Touched lately, as its life goes. What is neither this nor stale rests, and
// nobody can say yet.
bool is_in_use(const WatchBlock& block, double now, double epoch) {
  return now - block.last <= std::max(2 * epoch, block.last - block.birth);
}

struct Births {
  std::array<std::uint64_t, kStretches> counts{};
  double latest = 0;

  void add(double birth, double end) {
    const double at = end <= 0 ? 0 : birth / end * kStretches;
    ++counts[std::min(kStretches - 1, static_cast<std::size_t>(std::max(at, 0.0)))];
    latest = std::max(latest, birth);
  }
  // Early ones and late ones, and several stretches: it goes on.
  bool go_on() const {
    const auto middle = counts.begin() + kStretches / 2;
    const auto some = [](std::uint64_t count) { return count != 0; };
    return std::count_if(counts.begin(), counts.end(), some) >=
               static_cast<std::ptrdiff_t>(kLeastStretches) &&
           std::any_of(counts.begin(), middle, some) && std::any_of(middle, counts.end(), some);
  }
};

// Of all that is alive; for sites whose touches are not seen.
double curve_growth(const WatchSite& site, const WatchSnapshot& snapshot) {
  if (site.curve.size() < 2) return 1;
  std::size_t half = 0;
  while (half + 1 < site.curve.size() &&
         static_cast<double>(snapshot.history[half].time) / 1e9 < snapshot.now / 2) {
    ++half;
  }
  const double live = std::max(site.sums.allocated_bytes - site.sums.freed_bytes, 0.0);
  if (site.curve[half] > 0) return live / site.curve[half];
  return live > 0 ? 2 : 1;
}

void count_idle(std::vector<double>& histogram, double idle, double weight) {
  const std::size_t bucket =
      idle < 1 ? 0 : std::min<std::size_t>(40, 1 + static_cast<std::size_t>(std::log2(idle)));
  if (histogram.size() <= bucket) histogram.resize(bucket + 1);
  histogram[bucket] += weight;
}

}  // namespace

std::string_view word_of(SiteVerdict verdict) {
  switch (verdict) {
    case SiteVerdict::leak:
      return "leak";
    case SiteVerdict::cache:
      return "cache";
    case SiteVerdict::start_up:
      return "start-up";
    case SiteVerdict::few:
      return "few";
  }
  return "few";
}

SiteJudgement judge_site(const WatchSite& site, const WatchSnapshot& snapshot,
                         const StalePolicy& policy) {
  SiteJudgement result;
  const bool no_touches = (snapshot.limits & PLUMB_WATCH_NO_TOUCHES) != 0;
  // Whoever was born later cannot be stale yet.
  const double rest = static_cast<double>(site.sums.longest_rest) / 1e9;
  const double old_enough =
      snapshot.now - least_rest(policy, snapshot.epoch, rest) - 2 * snapshot.epoch;
  // A site whose touches are not seen at all (large blocks, or the kernel does
  // not show them) is judged by its growth.
  const auto is_seen = [&](const WatchBlock& block) { return !no_touches && block.observed; };
  result.by_growth_only = std::ranges::none_of(site.blocks, is_seen);
  std::uint64_t decided = 0;
  // What is stale now came to be so between the start and this moment.
  const double window = std::max(old_enough, snapshot.now / 4);
  double early_bytes = 0;
  double variance = 0;
  double true_bytes = 0;
  Births births;
  Births all_births;
  result.first_birth = snapshot.now;
  for (const WatchBlock& block : site.blocks) {
    const double idle = snapshot.now - block.last;
    count_idle(result.idle_histogram, idle, block.weight);
    all_births.add(block.birth, snapshot.now);
    if (!result.by_growth_only) {
      if (!is_seen(block) || block.birth > old_enough) continue;
      if (!is_stale(block, snapshot.now, snapshot.epoch, rest, policy)) {
        if (is_in_use(block, snapshot.now, snapshot.epoch)) ++decided;
        continue;
      }
      ++decided;
    }
    ++result.stale_samples;
    result.stale_blocks += block.weight;
    result.stale_bytes += block.weight * block.size;
    result.active += block.weight * (block.last - block.birth);
    result.idle += block.weight * idle;
    result.drag += block.weight * block.size * idle;
    variance += block.weight * (block.weight - 1) * block.size * block.size;
    true_bytes += block.size;
    result.first_birth = std::min(result.first_birth, block.birth);
    result.last_touch = std::max(result.last_touch, block.last);
    births.add(block.birth, window);
    if (block.birth < window / 2) early_bytes += block.weight * block.size;
  }
  if (result.stale_blocks > 0) {
    result.active /= result.stale_blocks;
    result.idle /= result.stale_blocks;
  }
  result.growth = result.by_growth_only ? curve_growth(site, snapshot)
                  : early_bytes > 0     ? result.stale_bytes / early_bytes
                                        : 2;
  const double deviation = 1.96 * std::sqrt(variance);
  result.bytes_low = std::max(true_bytes, result.stale_bytes - deviation);
  result.bytes_high = result.stale_bytes + deviation;

  if (result.by_growth_only) {
    const bool enough = site.blocks.size() >= 2 * policy.least_samples;
    const bool grows = all_births.go_on() && result.growth > 1.2;
    result.verdict = !enough ? SiteVerdict::few
                     : grows ? SiteVerdict::leak
                             : (all_births.latest < kEarly * snapshot.now ? SiteVerdict::start_up
                                                                          : SiteVerdict::cache);
    result.confidence = kGrowthConfidence;
    return result;
  }
  const std::uint64_t stale = result.stale_samples;
  result.misled_chance = tail_of_half(stale, decided);
  result.confidence = std::clamp(sure_share(stale, decided), 0.05, 0.99);
  if (stale < policy.least_samples) {
    result.verdict = site.sums.revived >= 2 ? SiteVerdict::cache : SiteVerdict::few;
  } else if (static_cast<double>(stale) < policy.share * static_cast<double>(decided)) {
    result.verdict = SiteVerdict::cache;
  } else if (!policy.must_grow || births.go_on()) {
    result.verdict = SiteVerdict::leak;
  } else {
    result.verdict = SiteVerdict::start_up;
  }
  return result;
}

}  // namespace plumb
