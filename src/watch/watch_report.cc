#include "watch/watch_report.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/text.h"
#include "core/accounting.h"
#include "core/fingerprint.h"
#include "core/merge.h"
#include "core/order.h"
#include "run/trace_report.h"
#include "watch/lost.h"
#include "watch/watch_notes.h"

namespace plumb {

namespace {

constexpr std::size_t kMostFrees = 5;

std::uint64_t rounded(double value) {
  return value <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(value));
}

std::vector<SiblingFree> frees_of(const WatchSite& site, Symboliser& symbols) {
  std::vector<const WatchFree*> order;
  for (const WatchFree& entry : site.frees) order.push_back(&entry);
  std::ranges::sort(order, [](const WatchFree* a, const WatchFree* b) {
    return a->samples != b->samples ? a->samples > b->samples : a < b;
  });
  if (order.size() > kMostFrees) order.resize(kMostFrees);
  const double scale = site.sums.freed_samples == 0
                           ? 1
                           : site.sums.freed_blocks / static_cast<double>(site.sums.freed_samples);
  std::vector<SiblingFree> frees;
  for (const WatchFree* entry : order) {
    SiblingFree sibling;
    sibling.stack = named_stack(entry->stack, symbols);
    sibling.blocks = rounded(static_cast<double>(entry->samples) * scale);
    frees.push_back(std::move(sibling));
  }
  return frees;
}

// Growth and chance say whether a block that is held is a leak.
Age age_of(const SiteJudgement& judged, Kind kind) {
  Age age;
  age.unit = "cpu-seconds";
  age.verdict = word_of(judged.verdict);
  age.samples = judged.stale_samples;
  age.bytes_low = std::round(judged.bytes_low);
  age.bytes_high = std::round(judged.bytes_high);
  if (kind == Kind::stale) age.growth = judged.growth;
  if (kind == Kind::stale && !judged.by_growth_only) age.missed_chance = judged.misled_chance;
  if (!judged.by_growth_only) {
    age.first = judged.first_birth;
    age.last = judged.last_touch;
    age.active = judged.active;
    age.idle = judged.idle;
    age.drag = judged.drag;
    age.histogram = judged.idle_histogram;
  }
  return age;
}

// Frames that call the tracing version of their own function are not in the
// source: no line, and the function of the frame before, which has one. Without
// debug information nothing can be told apart, and all stay.
void drop_doubled(Stack& stack) {
  Stack kept;
  for (Frame& frame : stack) {
    const bool doubled =
        !kept.empty() && kept.back().line && !frame.line && frame.function == kept.back().function;
    if (!doubled) kept.push_back(std::move(frame));
  }
  stack = std::move(kept);
}

// The checks that a burst passed: each by its own place in the source, without what
// it was inlined into; the same one again and again is a loop, and is said once. A
// check at the entry of a function has no line, only that function.
Stack burst_of(const std::vector<TraceAddress>& checks, Symboliser& symbols) {
  Stack burst;
  for (const TraceAddress& check : checks) {
    const Stack frames = named_stack({check}, symbols);
    if (frames.empty() || frames.front().function.empty()) continue;
    const auto same = [&](const Frame& frame) {
      return frame.function == frames.front().function && frame.file == frames.front().file &&
             frame.line == frames.front().line;
    };
    if (std::ranges::none_of(burst, same)) burst.push_back(frames.front());
  }
  return burst;
}

// Where the site's idle blocks were accessed last, by what was traced of it: the
// place of most of them.
std::optional<LastUse> last_use_of(const WatchSite& site, const WatchSnapshot& snapshot,
                                   Symboliser& symbols) {
  std::map<std::uint32_t, double> weights;
  std::map<std::uint32_t, std::uint32_t> bursts;
  for (const WatchBlock& block : site.blocks) {
    if (block.access == 0) continue;
    weights[block.access] += block.weight * (snapshot.now - block.last);
    bursts[block.access] = block.burst;
  }
  if (weights.empty()) return std::nullopt;
  const auto most =
      std::ranges::max_element(weights, {}, [](const auto& entry) { return entry.second; });
  LastUse use;
  use.stack = named_stack(snapshot.accesses.at(most->first), symbols);
  drop_doubled(use.stack);
  use.what = UseKind::access;
  if (const std::uint32_t burst = bursts[most->first]; burst != 0) {
    use.burst = burst_of(snapshot.accesses.at(burst), symbols);
  }
  return use;
}

void add_site(WatchSite& to, WatchSite&& from) {
  std::ranges::move(from.blocks, std::back_inserter(to.blocks));
  std::ranges::move(from.frees, std::back_inserter(to.frees));
  for (std::size_t i = 0; i < std::min(to.curve.size(), from.curve.size()); ++i) {
    to.curve[i] += from.curve[i];
  }
  PlumbWatchSite& sums = to.sums;
  sums.allocated_samples += from.sums.allocated_samples;
  sums.freed_samples += from.sums.freed_samples;
  sums.allocated_blocks += from.sums.allocated_blocks;
  sums.allocated_bytes += from.sums.allocated_bytes;
  sums.freed_blocks += from.sums.freed_blocks;
  sums.freed_bytes += from.sums.freed_bytes;
  sums.lifetime_sum += from.sums.lifetime_sum;
  sums.lifetime_max = std::max(sums.lifetime_max, from.sums.lifetime_max);
  sums.revived += from.sums.revived;
  sums.freed_stale += from.sums.freed_stale;
  sums.longest_rest = std::max(sums.longest_rest, from.sums.longest_rest);
}

// A program with two versions of its functions has two addresses for a place:
// sites whose stacks read the same are one.
void unite_sites(WatchSnapshot& snapshot, Symboliser& symbols) {
  std::map<std::string, std::size_t> known;
  std::vector<WatchSite> sites;
  for (WatchSite& site : snapshot.sites) {
    Stack stack = named_stack(site.stack, symbols);
    drop_doubled(stack);
    std::string key = site.api;
    bool readable = !stack.empty();
    for (const Frame& frame : stack) {
      readable = readable && frame.line.has_value();
      key += fmt::format("|{}|{}|{}|{}", frame.function, frame.file, frame.line.value_or(0),
                         frame.column.value_or(0));
      // What starts the program has no lines, and does not matter.
      if (frame.function == "main") break;
    }
    const auto [place, is_new] = known.try_emplace(key, sites.size());
    if (!readable || is_new) {
      if (readable) place->second = sites.size();
      sites.push_back(std::move(site));
    } else {
      add_site(sites[place->second], std::move(site));
    }
  }
  snapshot.sites = std::move(sites);
}

Leak leak_of(Kind kind, const WatchSite& site, const SiteJudgement& judged,
             const WatchSnapshot& snapshot, Symboliser& symbols) {
  Leak leak;
  leak.kind = kind;
  leak.confidence = judged.confidence;
  leak.direct.blocks = std::max<std::uint64_t>(1, rounded(judged.stale_blocks));
  leak.direct.bytes = rounded(judged.stale_bytes);
  SizeRange sizes;
  sizes.min = UINT64_MAX;
  for (const WatchBlock& block : site.blocks) {
    const auto size = static_cast<std::uint64_t>(block.size);
    sizes.min = std::min(sizes.min, size);
    sizes.max = std::max(sizes.max, size);
  }
  leak.sizes = sizes;
  leak.allocation.stack = named_stack(site.stack, symbols);
  drop_doubled(leak.allocation.stack);
  leak.last_use = last_use_of(site, snapshot, symbols);
  leak.allocation.api = api_of(leak.allocation.stack, site.api);
  leak.frees = frees_of(site, symbols);
  leak.age = age_of(judged, kind);
  return leak;
}

void describe(Subject& subject, const WatchSnapshot& snapshot) {
  subject.command = snapshot.command;
  subject.pid = snapshot.pid;
  const auto started = static_cast<std::time_t>(
      std::min<std::uint64_t>(snapshot.started, 253'402'300'799));  // year 9999
  if (started != 0) {
    subject.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(started));
  }
  subject.duration = snapshot.elapsed;
}

void add_series(Report& report, const WatchSnapshot& snapshot) {
  for (const PlumbWatchPoint& point : snapshot.history) {
    Sample sample;
    sample.time = static_cast<double>(point.time) / 1e9;
    sample.heap_bytes = rounded(point.heap_bytes);
    sample.live_blocks = rounded(point.live_blocks);
    sample.stale_bytes = std::max(point.idle_bytes, 0.0);
    report.series.push_back(std::move(sample));
  }
}

// Sums of samples, so that they add up although each figure is an estimate.
void add_totals(Report& report, const WatchSnapshot& snapshot) {
  double freed_blocks = 0;
  double freed_bytes = 0;
  double live_blocks = 0;
  double live_bytes = 0;
  for (const WatchSite& site : snapshot.sites) {
    freed_blocks += site.sums.freed_blocks;
    freed_bytes += site.sums.freed_bytes;
    live_blocks += site.sums.allocated_blocks - site.sums.freed_blocks;
    live_bytes += site.sums.allocated_bytes - site.sums.freed_bytes;
  }
  Totals& totals = report.totals;
  for (const Leak& leak : report.leaks) {
    (leak.kind == Kind::lost ? totals.lost : totals.stale) += leak.total();
  }
  totals.freed.blocks = rounded(freed_blocks);
  totals.freed.bytes = rounded(freed_bytes);
  const auto rest = [](double all, std::uint64_t part) {
    return rounded(all) > part ? rounded(all) - part : 0;
  };
  Count others;
  others.blocks = rest(live_blocks, totals.lost.blocks + totals.stale.blocks);
  others.bytes = rest(live_bytes, totals.lost.bytes + totals.stale.bytes);
  if (snapshot.search == PLUMB_WATCH_SEARCHED) {
    totals.forgotten = others;
    totals.omitted_forgotten = others;
  } else {
    totals.excluded = others;
  }
  totals.allocated = totals.freed;
  for (const Count& part : {totals.lost, totals.stale, others}) totals.allocated += part;
}

// What a site had freed by its end, of those that are no leak: freed.
void count_parted_as_freed(WatchSite& site) {
  for (const WatchBlock& block : site.blocks) {
    if (!block.parted) continue;
    ++site.sums.freed_samples;
    site.sums.freed_blocks += block.weight;
    site.sums.freed_bytes += block.weight * block.size;
  }
}

}  // namespace

Report report_from(const WatchSnapshot& taken, const StalePolicy& policy) {
  WatchSnapshot snapshot = taken;
  Report report;
  report.tool.engine = Engine::watch;
  report.tool.mode = (snapshot.limits & PLUMB_WATCH_NO_TOUCHES) != 0 ? "growth" : "sampled";
  describe(report.subject, snapshot);
  Symboliser symbols(snapshot.modules);
  if (!snapshot.accesses.empty()) unite_sites(snapshot, symbols);
  VerdictCounts counts;
  for (WatchSite& site : snapshot.sites) {
    if (const WatchSite lost = take_lost(site); !lost.blocks.empty()) {
      report.leaks.push_back(
          leak_of(Kind::lost, lost, sum_of_lost(lost, snapshot), snapshot, symbols));
    }
    if (site.blocks.empty()) continue;
    const SiteJudgement judged = judge_site(site, snapshot, policy);
    counts.add(judged);
    const bool listed =
        judged.verdict == SiteVerdict::leak || (policy.list_all && judged.stale_samples != 0);
    if (!listed) {
      count_parted_as_freed(site);
      continue;
    }
    report.leaks.push_back(leak_of(Kind::stale, site, judged, snapshot, symbols));
    for (const WatchBlock& block : site.blocks) {
      if (block.parted) counts.parted += block.weight * block.size;
    }
  }
  merge_leaks(report.leaks);
  add_totals(report, snapshot);
  add_series(report, snapshot);
  report.modules = symbols.modules();
  report.notes = notes_of(snapshot, counts, policy);
  for (Note& note : symbols.notes()) report.notes.push_back(std::move(note));
  assign_ids(report);
  sort_leaks(report);
  recount_hidden(report);
  return report;
}

}  // namespace plumb
