#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

namespace {

constexpr std::size_t kMostGuards = 16;  // of one sign
constexpr std::size_t kMostWays = 10;    // of one sign
constexpr std::size_t kMostPromises = 4000;

constexpr unsigned bit(Sign sign) { return 1u << static_cast<unsigned>(sign); }

}  // namespace

unsigned FunctionRun::signs_of(const State& state, ValueId value) const {
  Fact fact = state.fact(values_, value);
  fact.nonzero = fact.nonzero || is_nonzero(state, value);
  unsigned out = 0;
  if (fact.low < 0) out |= bit(Sign::negative);
  if (!fact.nonzero && fact.low <= 0 && fact.high >= 0) out |= bit(Sign::zero);
  if (fact.high > 0) out |= bit(Sign::positive);
  return out;
}

// One more way out of the function: what it knows of the inputs holds for the signs
// that its result may have.
void FunctionRun::add_meanings(const State& state, ValueId result) {
  std::vector<Meaning>& meanings = summary_.effect.meanings;
  meanings.resize(kSigns);
  unsigned signs = state.returning ? state.returning : signs_of(state, result);
  if (signs & (bit(Sign::negative) | bit(Sign::positive))) signs |= bit(Sign::nonzero);
  std::vector<GuardSet> ways;
  for (const Way& way : ways_of(state)) {
    GuardSet& set = ways.emplace_back();
    for (const auto& [about, fact] : way) set.guards.push_back({about, fact});
  }
  for (std::size_t i = 0; i < kSigns; ++i) {
    if (!(signs >> i & 1)) continue;
    Meaning& meaning = meanings[i];
    if (!meaning.possible) {
      meaning.possible = true;
      meaning.ways = ways;
      for (const auto& [about, fact] : state.facts) {
        if (meaning.guards.size() == kMostGuards) break;
        if (is_about_input(about)) meaning.guards.push_back({about, fact});
      }
      continue;
    }
    std::erase_if(meaning.guards, [&](Guard& guard) {
      guard.fact = hull(guard.fact, state.fact(values_, guard.value));
      return State::is_trivial(values_, guard.value, guard.fact);
    });
    if (meaning.ways.empty()) continue;  // too many already
    meaning.ways.insert(meaning.ways.end(), ways.begin(), ways.end());
    if (meaning.ways.size() > kMostWays) meaning.ways.clear();
  }
}

void FunctionRun::promise(ValueId result, const std::vector<Meaning>& meanings, Instance& at_call) {
  if (meanings.empty() || values_[result].kind != ValueKind::fresh) return;
  if (promises_.size() >= kMostPromises) return;
  std::vector<Meaning> made = meanings;
  for (Meaning& meaning : made) {
    for (Guard& guard : meaning.guards) guard.value = in_caller(at_call, guard.value);
    for (GuardSet& way : meaning.ways) {
      for (Guard& guard : way.guards) guard.value = in_caller(at_call, guard.value);
    }
  }
  promises_.emplace(result.index, std::move(made));
}

bool FunctionRun::rules_out(const State& state, ValueId value, const Fact& fact) {
  if (are_apart(state.fact(values_, value), fact)) return true;
  const bool zero = fact.low == 0 && fact.high == 0;
  if (zero && is_nonzero(state, value)) return true;
  if (values_[value].kind != ValueKind::compare || (!zero && !fact.nonzero)) return false;
  const int known = decide(state, value);
  return known >= 0 && (known == 0) != zero;
}

// What was given says what comes back: a function that passes an error on returns null
// for null.
void FunctionRun::narrow(const State& state, const std::vector<Meaning>& meanings,
                         Instance& at_call, Fact& result) {
  if (meanings.empty()) return;
  const auto possible = [&](Sign sign) {
    const Meaning& meaning = meanings[static_cast<std::size_t>(sign)];
    const auto holds = [&](const std::vector<Guard>& guards) {
      return std::ranges::none_of(guards, [&](const Guard& guard) {
        return rules_out(state, in_caller(at_call, guard.value), guard.fact);
      });
    };
    return meaning.possible && holds(meaning.guards) &&
           (meaning.ways.empty() || std::ranges::any_of(meaning.ways, [&](const GuardSet& way) {
              return holds(way.guards);
            }));
  };
  if (!possible(Sign::zero)) {
    result.nonzero = true;
  } else if (!possible(Sign::nonzero)) {
    result = {0, 0, false};
  }
}

bool FunctionRun::assume_all(State& state, const std::vector<Guard>& guards) {
  return std::ranges::all_of(
      guards, [&](const Guard& guard) { return assume_fact(state, guard.value, guard.fact); });
}

// One of these holds: false when none can, and when it is only one, what it says is known.
// Of several, a function that says why it fails itself passes them on.
bool FunctionRun::assume_one(State& state, const std::vector<GuardSet>& ways) {
  std::vector<const GuardSet*> possible;
  for (const GuardSet& way : ways) {
    const bool excluded = std::ranges::any_of(
        way.guards, [&](const Guard& guard) { return rules_out(state, guard.value, guard.fact); });
    if (!excluded) possible.push_back(&way);
  }
  if (ways.empty()) return true;
  if (possible.empty()) return false;
  if (possible.size() == 1) return assume_all(state, possible.front()->guards);
  if (mode_ != Mode::plain) return true;
  std::vector<Way> all;
  for (const Way& before : ways_of(state)) {
    for (const GuardSet* way : possible) {
      if (all.size() == kMostWays) return true;
      State probe;
      probe.facts = before;
      bool tells = false;
      bool can_be = true;
      for (const Guard& guard : way->guards) {
        if (!is_about_input(guard.value)) continue;
        tells = true;
        can_be = can_be && probe.learn(values_, guard.value, guard.fact);
      }
      if (!tells) return true;
      if (can_be) all.push_back(std::move(probe.facts));
    }
  }
  if (all.empty()) return false;
  state.ways = std::move(all);
  return true;
}

// Something was learned of the value. False when the call cannot have returned that.
bool FunctionRun::keep_promise(State& state, ValueId value) {
  if (promises_.empty()) return true;
  const unsigned known = signs_of(state, value);
  // A number made wider has the same sign, or at least is zero when the other is.
  bool exact = true;
  while (values_[value].kind == ValueKind::cast) {
    const Value& v = values_[value];
    // A truth value is stored as a byte and cut to a bit when it is read.
    const Value& inner = values_[v.a];
    const bool is_truth = v.code == Code::truncate && v.width == 1 &&
                          inner.kind == ValueKind::cast && inner.code == Code::zero_extend &&
                          inner.width == 1;
    if (v.code == Code::truncate && !is_truth) return true;
    exact = exact && v.code == Code::sign_extend;
    value = v.a;
  }
  const auto at = promises_.find(value.index);
  if (at == promises_.end()) return true;
  const std::vector<Meaning>& meanings = at->second;
  const auto possible = [&](Sign sign) {
    return meanings[static_cast<std::size_t>(sign)].possible;
  };
  unsigned signs = known;
  if (!exact && known != bit(Sign::zero)) {
    const bool zero = known & bit(Sign::zero);
    signs = bit(Sign::negative) | bit(Sign::positive) | (zero ? bit(Sign::zero) : 0);
  }
  for (const Sign sign : {Sign::negative, Sign::zero, Sign::positive}) {
    if (!possible(sign)) signs &= ~bit(sign);
  }
  if (signs == 0) return false;
  if (signs == (bit(Sign::negative) | bit(Sign::positive))) signs = bit(Sign::nonzero);
  for (std::size_t i = 0; i < kSigns; ++i) {
    if (signs != 1u << i) continue;
    // Copies: what is assumed may be a promise, too.
    const std::vector<Guard> guards = meanings[i].guards;
    const std::vector<GuardSet> ways = meanings[i].ways;
    return assume_all(state, guards) && assume_one(state, ways);
  }
  return true;
}

}  // namespace plumb::check
