// Ways: what decided a block's fate, kept where paths meet.
//
// Merging takes the hull of what the paths know. "No string, or one that is not ours"
// has no hull, and a destructor would be thought to spare anything. So a state that
// follows an input keeps what each of the paths knew of the inputs, as long as these
// are few, and a case says under which of them it comes about.
#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

constexpr std::size_t kMostWays = 8;
constexpr std::size_t kMostReasons = 6;  // of a result
constexpr std::size_t kMostFacts = 24;   // of a way

Fact both(const Fact& a, const Fact& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high), a.nonzero || b.nonzero};
}

bool is_same(const std::vector<Guard>& a, const std::vector<Guard>& b) {
  return std::ranges::equal(
      a, b, [](const Guard& x, const Guard& y) { return x.value == y.value && x.fact == y.fact; });
}

}  // namespace

// The ways of a state with what it has learnt since they met.
std::vector<Way> FunctionRun::ways_of(const State& state) const {
  Way now;
  for (const auto& [value, fact] : state.facts) {
    if (now.size() == kMostFacts) break;
    if (value != focus_ && about_input(values_, value)) now.emplace_back(value, fact);
  }
  if (state.ways.empty()) return {now};
  std::vector<Way> out = state.ways;
  for (Way& way : out) {
    for (const auto& [value, fact] : now) {
      const auto at = std::ranges::lower_bound(way, value, {}, &std::pair<ValueId, Fact>::first);
      if (at != way.end() && at->first == value) {
        at->second = both(at->second, fact);
      } else if (way.size() < kMostFacts) {
        way.insert(at, {value, fact});
      }
    }
  }
  return out;
}

void FunctionRun::join_ways(State& into, const State& other, bool widens) const {
  std::vector<Way> all;
  const bool lost = widens || into.ways_lost || other.ways_lost;
  if (!lost) {
    all = ways_of(into);
    for (Way& way : ways_of(other)) {
      if (std::ranges::find(all, way) == all.end()) all.push_back(std::move(way));
    }
  }
  into.ways_lost = lost || all.size() > kMostWays;
  into.ways.clear();
  if (!into.ways_lost && all.size() > 1) into.ways = std::move(all);
}

// The same for what the whole function says by its result, of which there is little: when
// there are too many ways, what all of them know is one.
void FunctionRun::join_reasons(State& into, const State& other, bool widens) const {
  if (widens) {
    into.ways.clear();
    return;
  }
  std::vector<Way> all = ways_of(into);
  for (Way& way : ways_of(other)) {
    if (std::ranges::find(all, way) == all.end()) all.push_back(std::move(way));
  }
  into.ways.clear();
  if (all.size() > 1 && all.size() <= kMostReasons) into.ways = std::move(all);
}

// Two cases become one, which comes about in the ways of both.
void FunctionRun::add_ways(Case& into, const Case& other) const {
  const auto listed = [](const Case& each) {
    return each.ways.empty() ? std::vector<GuardSet>{{each.guards}} : each.ways;
  };
  std::vector<GuardSet> all = listed(into);
  for (GuardSet& way : listed(other)) {
    const bool known = std::ranges::any_of(
        all, [&](const GuardSet& each) { return is_same(each.guards, way.guards); });
    if (!known) all.push_back(std::move(way));
  }
  into.ways_lost = into.ways_lost || other.ways_lost || all.size() > kMostWays;
  into.ways.clear();
  if (!into.ways_lost && all.size() > 1) into.ways = std::move(all);
}

}  // namespace plumb::check
