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
constexpr std::size_t kMostReasons = 10;  // of a result
constexpr std::size_t kMostFacts = 24;    // of a way

Fact both(const Fact& a, const Fact& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high), a.nonzero || b.nonzero};
}

bool is_same(const std::vector<Guard>& a, const std::vector<Guard>& b) {
  return std::ranges::equal(
      a, b, [](const Guard& x, const Guard& y) { return x.value == y.value && x.fact == y.fact; });
}

// Is `part` what the value is made of? A condition says something of that, too.
bool is_part_of(const Values& values, ValueId part, ValueId of, int depth = 0) {
  constexpr int kDeepest = 4;
  if (part == of) return true;
  if (depth == kDeepest) return false;
  const Value& v = values[of];
  const bool two = v.kind == ValueKind::compare || v.kind == ValueKind::binary;
  return ((two || v.kind == ValueKind::cast) && is_part_of(values, part, v.a, depth + 1)) ||
         (two && is_part_of(values, part, v.b, depth + 1));
}

// Are the two ways the same but for a condition that holds in one of them only? Then `a`
// without that is both.
bool absorbs(const Values& values, Way& a, const Way& b) {
  Way same;
  std::vector<ValueId> differ;
  ValueId condition = kNoValue;
  auto x = a.begin();
  auto y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->first < y->first)) {
      differ.push_back((x++)->first);
    } else if (x == a.end() || y->first < x->first) {
      differ.push_back((y++)->first);
    } else {
      if (x->second == y->second) {
        same.push_back(*x);
      } else {
        differ.push_back(x->first);
        const bool opposite =
            values[x->first].kind == ValueKind::compare && are_apart(x->second, y->second);
        if (opposite && condition == kNoValue) condition = x->first;
      }
      ++x;
      ++y;
    }
  }
  if (condition == kNoValue) return false;
  const bool all = std::ranges::all_of(
      differ, [&](ValueId each) { return is_part_of(values, each, condition); });
  if (all) a = std::move(same);
  return all;
}

// Says everything that holds in `a` again, or less?
bool follows_from(const Way& b, const Way& a) {
  return std::ranges::all_of(b, [&](const auto& known) {
    const auto at = std::ranges::lower_bound(a, known.first, {}, &std::pair<ValueId, Fact>::first);
    return at != a.end() && at->first == known.first && known.second.low <= at->second.low &&
           known.second.high >= at->second.high && (!known.second.nonzero || at->second.nonzero);
  });
}

// Where paths part and meet again, what decided between them is no reason for what comes later.
void simplify(const Values& values, std::vector<Way>& ways) {
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (std::size_t j = 0; j < ways.size(); ++j) {
      if (i == j) continue;
      const bool absorbed = absorbs(values, ways[i], ways[j]);
      if (!absorbed && !follows_from(ways[i], ways[j])) continue;
      ways.erase(ways.begin() + static_cast<std::ptrdiff_t>(j));
      i = j = 0;  // what became simpler may take in others
    }
  }
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
  std::erase_if(out, [&](Way& way) {
    for (const auto& [value, fact] : now) {
      const auto at = std::ranges::lower_bound(way, value, {}, &std::pair<ValueId, Fact>::first);
      if (at != way.end() && at->first == value) {
        at->second = both(at->second, fact);
        // What was learnt since says that it was not this way.
        if (at->second.empty()) return true;
      } else if (way.size() < kMostFacts) {
        way.insert(at, {value, fact});
      }
    }
    return false;
  });
  if (out.empty()) return {now};
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
  if (all.size() > 1) simplify(values_, all);
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
