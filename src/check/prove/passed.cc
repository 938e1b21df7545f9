#include "check/prove/passed.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/parallel.h"

namespace plumb::check {

namespace {

bool is_nonzero(const Fact& fact) { return fact.nonzero || fact.low > 0 || fact.high < 0; }

Fact either(const Fact& a, const Fact& b) {
  Fact out = hull(a, b);
  out.nonzero = is_nonzero(a) && is_nonzero(b);
  return out;
}

Fact both(const Fact& a, const Fact& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high), a.nonzero || b.nonzero};
}

// What one function passes to others.
struct Calls {
  // Callee, its parameter, and the caller's own parameter that is passed, if it is one.
  std::map<std::tuple<FunctionId, std::uint32_t, std::uint32_t>, Fact> facts;
  std::set<std::uint32_t> seen;  // operations
  bool whole = false;            // all paths were followed
};

class Passing {
 public:
  Passing(const Program& program, const Library& library, const std::vector<Summary>& summaries,
          const Limits& limits, unsigned threads)
      : program_(program),
        library_(library),
        summaries_(summaries),
        limits_(limits),
        threads_(threads),
        done_(summaries.size(), true) {
    find_callers();
  }

  PassedFacts find(const std::vector<FunctionId>& functions) {
    look_at(functions);
    settle();
    PassedFacts out;
    for (const FunctionId id : functions) {
      std::vector<Fact> facts;
      for (const std::optional<Fact>& each : known_[id.index])
        facts.push_back(each.value_or(Fact{}));
      if (!std::ranges::all_of(facts, &Fact::trivial)) out.emplace(id.index, std::move(facts));
    }
    return out;
  }

 private:
  struct Site {
    FunctionId caller;
    std::uint32_t operation = 0;
  };

  void find_callers();
  void look_at(const std::vector<FunctionId>& functions);
  void settle();
  Calls calls_of(FunctionId caller) const;
  bool are_seen(FunctionId callee) const;

  const Program& program_;
  const Library& library_;
  const std::vector<Summary>& summaries_;
  const Limits& limits_;
  const unsigned threads_;
  const std::vector<bool> done_;
  const std::vector<FunctionId> none_;
  // Of the functions that only these call; the others are absent.
  std::map<FunctionId, std::vector<Site>> callers_;
  std::map<FunctionId, Calls> calls_;  // by caller
  std::set<FunctionId> wanted_;        // and in callers_
  std::unordered_map<std::uint32_t, std::vector<std::optional<Fact>>> known_;
};

void Passing::find_callers() {
  std::vector<bool> open(program_.functions().size(), false);
  for (std::uint32_t i = 0; i < program_.symbols(); ++i) {
    const ProgramSymbolId id = ProgramSymbolId::of(i);
    const ProgramSymbol& symbol = program_.symbol(id);
    if (!symbol.function) continue;
    const ProgramFunction& function = program_.functions()[symbol.function->index];
    // What has another name may be called by that from elsewhere.
    if (symbol.address_taken || function.symbol != id ||
        function.body->linkage != Linkage::internal || function.body->variadic) {
      open[symbol.function->index] = true;
    }
  }
  for (std::uint32_t f = 0; f < program_.functions().size(); ++f) {
    const ProgramFunction& caller = program_.functions()[f];
    for (std::uint32_t i = 0; i < caller.body->operations.size(); ++i) {
      const Operation& o = caller.body->operations[i];
      if (o.op != Op::call || o.a.kind() != OperandKind::symbol) continue;
      const ProgramSymbolId called = program_.resolve(caller.unit, SymbolId::of(o.a.index()));
      const std::optional<FunctionId> callee = program_.symbol(called).function;
      if (callee && !open[callee->index]) callers_[*callee].push_back({FunctionId::of(f), i});
    }
  }
}

Calls Passing::calls_of(FunctionId caller) const {
  Calls out;
  const Known known{summaries_, done_, none_, false, nullptr};
  FunctionRun run(program_, library_, known, caller, limits_);
  out.whole = run.follow_calls(
      [&](std::uint32_t operation, FunctionId callee, const std::vector<Passed>& arguments) {
        out.seen.insert(operation);
        const std::uint32_t params = program_.functions()[callee.index].body->params;
        for (std::uint32_t i = 0; i < params; ++i) {
          const Passed passed = i < arguments.size() ? arguments[i] : Passed{};
          const auto [entry, fresh] = out.facts.try_emplace({callee, i, passed.param}, passed.fact);
          if (!fresh) entry->second = either(entry->second, passed.fact);
        }
      });
  return out;
}

// A run over each caller, and over the callers of those that pass on what they were passed.
void Passing::look_at(const std::vector<FunctionId>& functions) {
  std::vector<FunctionId> work = functions;
  while (!work.empty()) {
    std::set<FunctionId> fresh;
    for (const FunctionId id : work) {
      const auto sites = callers_.find(id);
      if (sites == callers_.end() || !wanted_.insert(id).second) continue;
      for (const Site& site : sites->second) {
        if (!calls_.contains(site.caller)) fresh.insert(site.caller);
      }
    }
    const std::vector<FunctionId> callers(fresh.begin(), fresh.end());
    std::vector<Calls> found(callers.size());
    in_parallel(callers.size(), threads_, [&](std::size_t i) { found[i] = calls_of(callers[i]); });
    for (std::size_t i = 0; i < callers.size(); ++i) calls_[callers[i]] = std::move(found[i]);
    std::set<FunctionId> next;
    for (const FunctionId id : work) {
      const auto sites = callers_.find(id);
      if (sites == callers_.end()) continue;
      for (const Site& site : sites->second) {
        for (const auto& [key, fact] : calls_[site.caller].facts) {
          const auto& [callee, place, param] = key;
          if (callee == id && param != Passed::kNone && !wanted_.contains(site.caller)) {
            next.insert(site.caller);
          }
        }
      }
    }
    work.assign(next.begin(), next.end());
  }
}

bool Passing::are_seen(FunctionId callee) const {
  return std::ranges::all_of(callers_.at(callee), [&](const Site& site) {
    const Calls& calls = calls_.at(site.caller);
    return calls.whole && calls.seen.contains(site.operation);
  });
}

// From nothing passed at all, until no call adds to it.
void Passing::settle() {
  std::vector<FunctionId> open;
  for (const FunctionId id : wanted_) {
    if (!are_seen(id)) continue;
    open.push_back(id);
    known_[id.index].resize(program_.functions()[id.index].body->params);
  }
  // Facts are joined of those that the calls have, which are not many.
  constexpr int kRounds = 64;
  bool changed = true;
  for (int round = 0; changed && round < kRounds; ++round) {
    changed = false;
    for (const FunctionId id : open) {
      std::set<FunctionId> callers;
      for (const Site& site : callers_.at(id)) callers.insert(site.caller);
      for (const FunctionId caller : callers) {
        const auto own = known_.find(caller.index);
        for (const auto& [key, fact] : calls_.at(caller).facts) {
          const auto& [callee, place, param] = key;
          if (callee != id) continue;
          Fact passed = fact;
          if (param != Passed::kNone && own != known_.end()) {
            if (!own->second[param]) continue;
            passed = both(passed, *own->second[param]);
            if (passed.empty()) continue;
          }
          std::optional<Fact>& known = known_[id.index][place];
          const Fact now = known ? either(*known, passed) : passed;
          changed = changed || !known || now != *known;
          known = now;
        }
      }
    }
  }
  if (changed) known_.clear();
}

}  // namespace

PassedFacts find_passed(const Program& program, const Library& library,
                        const std::vector<Summary>& summaries, const Limits& limits,
                        const std::vector<FunctionId>& functions, unsigned threads) {
  if (functions.empty()) return {};
  return Passing(program, library, summaries, limits, threads).find(functions);
}

}  // namespace plumb::check
