#include "check/prove/prove.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/archive.h"
#include "base/parallel.h"
#include "check/prove/inline.h"
#include "check/prove/passed.h"
#include "check/prove/solver.h"

namespace plumb::check {

namespace {

// The candidates of one allocation in one function, for one defect.
using Group = std::vector<Candidate>;

std::vector<Group> groups_of(std::vector<Candidate> candidates) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Defect>, Group>
      by_site;
  for (Candidate& each : candidates) {
    by_site[{each.function, each.origin.operation, each.origin.callee, each.origin.inner,
             defect_of(each.kind)}]
        .push_back(std::move(each));
  }
  std::vector<Group> out;
  for (auto& [site, group] : by_site) out.push_back(std::move(group));
  return out;
}

const Candidate& shortest(const Group& group) {
  return *std::min_element(group.begin(), group.end(), [](const Candidate& a, const Candidate& b) {
    return a.trail.size() < b.trail.size();
  });
}

// The way on which the first stage saw the shortest of them.
Guide guide_of(const Group& group) {
  Guide out;
  for (const TrailStep& step : shortest(group).trail) {
    if (step.branch >= 0) out.branches.push_back(step);
  }
  return out;
}

// Where the first stage saw the block lost, and of these, where by an allocation that failed.
struct Goals {
  std::vector<std::uint32_t> all;
  std::vector<std::uint32_t> failing;

  void add(std::uint32_t operation, bool fails) {
    all.push_back(operation);
    if (fails) failing.push_back(operation);
  }
};

// What became of a group, and at which step.
enum class Step : std::uint8_t { path, solver, callees };

struct Outcome {
  Verdict verdict = Verdict::undecided;
  Step step = Step::path;
  Candidate candidate;
  std::uint64_t queries = 0;
};

// One replay.
struct Answer {
  Verdict verdict = Verdict::undecided;
  bool reached = false;           // some path came to a loss
  std::optional<Candidate> lost;  // on the path that was found
  std::uint64_t queries = 0;
};

class Prover {
 public:
  Prover(const Program& program, const Library& library, const std::vector<Summary>& summaries,
         const Limits& limits, const ProveLimits& budget, std::size_t groups)
      : program_(program),
        library_(library),
        summaries_(summaries),
        budget_(budget),
        done_(summaries.size(), true),
        limits_(limits) {
    limits_.run_work = budget.path_work;
    const std::uint64_t share = budget.all_steps / std::max<std::size_t>(1, groups);
    // A power of two: one candidate more or less does not change the other verdicts.
    steps_ =
        static_cast<unsigned>(std::min<std::uint64_t>(budget.solver_steps, std::bit_floor(share)));
  }

  // `passed`: what is known of the function's parameters, or nothing.
  Outcome decide(const Group& group, const std::vector<Fact>& passed, Reads* reads) const;

  // What a verdict depends on besides the program.
  unsigned steps() const { return steps_; }

 private:
  using MakeRun = std::function<FunctionRun()>;
  Answer follow(FunctionRun run, const Origin& site, Defect defect, const Goals& goals,
                const Guide& guide, bool anywhere) const;
  Answer replay(const MakeRun& run, const Origin& site, Defect defect, const Goals& goals,
                const Guide& guide, bool anywhere) const;
  // A function in which a block is lost, as it is looked at.
  struct Place {
    const Group& group;
    const Known& known;
    const std::vector<Fact>& passed;
  };
  Answer replay_with_callees(const Place& place) const;
  Answer replay_with_maker(const Place& place) const;
  Answer replay_inlined(const Place& place, const Inlined& inlined) const;

  const Program& program_;
  const Library& library_;
  const std::vector<Summary>& summaries_;
  const ProveLimits& budget_;
  const std::vector<bool> done_;
  const std::vector<FunctionId> none_;
  Limits limits_;
  unsigned steps_ = 0;
};

Answer Prover::follow(FunctionRun run, const Origin& site, Defect defect, const Goals& goals,
                      const Guide& guide, bool anywhere) const {
  Answer answer;
  bool unsure = false;
  // Merged states may see a loss late: what a result in another block still held.
  std::optional<Candidate> elsewhere;
  const OnLoss on_loss = [&](const Values& values, const State& state, const Candidate& lost) {
    // With the callees in place the block may be seen to go elsewhere; it goes.
    const bool here = anywhere || std::ranges::find(goals.all, lost.lost_at) != goals.all.end();
    // That the program goes on to its end then was seen by the first stage alone.
    const bool seen = std::ranges::find(goals.failing, lost.lost_at) != goals.failing.end();
    if (lost.oom && !limits_.oom && !seen) return false;
    if (!here && elsewhere) return false;
    answer.reached = answer.reached || here;
    if (answer.queries == budget_.queries) {
      unsure = true;
      return true;
    }
    ++answer.queries;
    const Feasible feasible = is_feasible(values, state, steps_);
    if (feasible == Feasible::no) return false;
    if (!here) {
      if (feasible == Feasible::yes) elsewhere = lost;
      return false;
    }
    unsure = feasible == Feasible::undecided;
    answer.lost = lost;
    return true;
  };
  switch (run.replay(site, defect, goals.all, guide, on_loss)) {
    case ReplayEnd::exhausted:
      answer.verdict = elsewhere ? Verdict::proved : Verdict::refuted;
      answer.lost = elsewhere;
      break;
    case ReplayEnd::stopped:
      answer.verdict = unsure ? Verdict::undecided : Verdict::proved;
      break;
    case ReplayEnd::truncated:
      break;
  }
  return answer;
}

// A large function has too many paths to come upon the right one by chance: then the one
// on which the first stage saw the loss is followed, to prove it or to know no more.
Answer Prover::replay(const MakeRun& run, const Origin& site, Defect defect, const Goals& goals,
                      const Guide& guide, bool anywhere) const {
  Answer answer = follow(run(), site, defect, goals, {}, anywhere);
  if (answer.verdict != Verdict::undecided || answer.lost || guide.branches.empty()) return answer;
  const Answer guided = follow(run(), site, defect, goals, guide, anywhere);
  const std::uint64_t queries = answer.queries + guided.queries;
  if (guided.verdict == Verdict::proved) answer = guided;
  answer.queries = queries;
  return answer;
}

// The calls that the block goes through on its way, and those that make and lose it.
std::vector<std::uint32_t> calls_of(const Group& group) {
  std::vector<std::uint32_t> out;
  for (const Candidate& each : group) {
    out.push_back(each.origin.operation);
    out.push_back(each.lost_at);
    for (const TrailStep& step : each.trail) {
      if (step.branch < 0) out.push_back(step.operation);
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool is_thrown(const Group& group) {
  return std::ranges::any_of(group, [](const Candidate& each) {
    return each.kind == LossKind::thrown ||
           std::ranges::find(each.trail, TrailStep::kThrows, &TrailStep::branch) !=
               each.trail.end();
  });
}

// With the callees' bodies in place: all that fit. Where some do not, first those that the
// block goes through alone: they decide, wherever in the function they are. When there are
// too many paths, only the smaller ones, of the others what their summaries say. But what a
// callee throws, its summary says without the reason: the call that does is looked into
// before, by itself and deeper.
Answer Prover::replay_with_callees(const Place& place) const {
  const auto& [group, known, passed] = place;
  constexpr InlineLimits kSteps[] = {
      InlineLimits{},
      {.depth = 2, .callee = 120, .other = 0, .total = 2500},
      {.depth = 1, .callee = 60, .maker = 240, .other = 0, .total = 1200}};
  constexpr unsigned kThrowDepth = 5;
  Answer answer;
  std::uint64_t queries = 0;
  std::size_t last = SIZE_MAX;
  for (const InlineLimits& limits : kSteps) {
    const FunctionId function = FunctionId::of(group.front().function);
    const Inlined inlined =
        inline_callees(program_, summaries_, function, group.front().origin, limits, known.reads);
    if (inlined.full && last == SIZE_MAX) {
      const std::vector<std::uint32_t> calls = calls_of(group);
      InlineLimits few = limits;
      few.only = calls;
      answer = replay_inlined(place, inline_callees(program_, summaries_, function,
                                                    group.front().origin, few, known.reads));
      queries += answer.queries;
      if (answer.verdict == Verdict::refuted) break;
    }
    if (inlined.body.operations.size() == last) continue;  // nothing was left out
    last = inlined.body.operations.size();
    if (inlined.calls == 0) return {Verdict::proved, true, {}, queries};
    answer = replay_inlined(place, inlined);
    queries += answer.queries;
    if (&limits == kSteps && answer.verdict != Verdict::refuted && is_thrown(group)) {
      const std::vector<std::uint32_t> calls = calls_of(group);
      InlineLimits few = limits;
      few.only = calls;
      few.depth = kThrowDepth;
      Answer deeper = replay_inlined(place, inline_callees(program_, summaries_, function,
                                                           group.front().origin, few, known.reads));
      queries += deeper.queries;
      if (deeper.verdict == Verdict::refuted) {
        answer = std::move(deeper);
        break;
      }
    }
    if (answer.verdict != Verdict::undecided) break;
  }
  answer.queries = queries;
  return answer;
}

// A large function that hands out the block may do so only when it is asked to by an argument
// that this caller does not give. It alone is put in place then, and its answer counts when it
// is no: what becomes of the block is for those above to say.
Answer Prover::replay_with_maker(const Place& place) const {
  const auto& [group, known, passed] = place;
  const Candidate& first = group.front();
  if (first.origin.callee == Origin::kNone) return {};
  const FunctionId maker = FunctionId::of(first.origin.callee);
  const Function& body = *ProgramView(program_, known.reads).function(maker).body;
  if (body.operations.size() <= InlineLimits{}.maker) return {};
  constexpr InlineLimits kAlone = {
      .depth = 1, .callee = 0, .maker = 4000, .other = 0, .total = 8000};
  const Inlined inlined = inline_callees(program_, summaries_, FunctionId::of(first.function),
                                         first.origin, kAlone, known.reads);
  return inlined.calls == 0 ? Answer{} : replay_inlined(place, inlined);
}

// What is found is said of the caller.
Answer Prover::replay_inlined(const Place& place, const Inlined& inlined) const {
  const auto& [group, known, passed] = place;
  const Candidate& first = group.front();
  const FunctionId function = FunctionId::of(first.function);
  Goals goals;
  for (std::uint32_t i = 0; i < inlined.top.size(); ++i) {
    for (const Candidate& each : group) {
      if (each.lost_at == inlined.top[i]) goals.add(i, each.oom);
    }
  }
  Guide guide = guide_of(group);
  guide.top = &inlined.top;
  guide.own = &inlined.own;
  const MakeRun run = [&] {
    FunctionRun made(program_, library_, place.known, function, LinkedBody{inlined.body}, limits_);
    made.suppose(place.passed);
    return made;
  };
  Answer answer = replay(run, inlined.site, defect_of(first.kind), goals, guide, true);
  if (!answer.lost) return answer;
  Candidate& lost = *answer.lost;
  lost.origin = first.origin;
  lost.operation = inlined.top[lost.operation];
  lost.lost_at = inlined.top[lost.lost_at];
  lost.used_at = inlined.top[lost.used_at];
  lost.freed_at = inlined.top[lost.freed_at];
  const auto same = std::ranges::find(group, lost.lost_at, &Candidate::lost_at);
  if (same != group.end()) lost.holder = same->holder;
  std::vector<TrailStep> trail;
  for (std::size_t i = 0; i < lost.trail.size(); ++i) {
    TrailStep step = lost.trail[i];
    const std::uint32_t top = inlined.top[step.operation];
    // A callee in place throws: so does the call, unless more was done there.
    const bool leaves =
        step.branch == TrailStep::kThrows &&
        (i + 1 == lost.trail.size() || inlined.top[lost.trail[i + 1].operation] != top);
    if (!inlined.own[step.operation] && !leaves) continue;
    step.operation = top;
    trail.push_back(step);
  }
  lost.trail = std::move(trail);
  return answer;
}

Outcome Prover::decide(const Group& group, const std::vector<Fact>& passed, Reads* reads) const {
  const Known known{summaries_, done_, none_, false, reads};
  const Candidate& first = group.front();
  Goals goals;
  for (const Candidate& each : group) goals.add(each.lost_at, each.oom);
  Outcome out;
  const MakeRun run = [&] {
    FunctionRun made(program_, library_, known, FunctionId::of(first.function), limits_);
    made.suppose(passed);
    return made;
  };
  const Answer alone =
      replay(run, first.origin, defect_of(first.kind), goals, guide_of(group), false);
  out.queries = alone.queries;
  out.candidate = alone.lost.value_or(shortest(group));
  if (alone.verdict == Verdict::refuted) {
    out.verdict = Verdict::refuted;
    out.step = alone.reached ? Step::solver : Step::path;
    return out;
  }
  const Place place{group, known, passed};
  Answer deep = replay_with_callees(place);
  out.queries += deep.queries;
  if (deep.verdict != Verdict::refuted) {
    const Answer made = replay_with_maker(place);
    out.queries += made.queries;
    if (made.verdict == Verdict::refuted) deep = made;
  }
  out.step = Step::callees;
  out.verdict = deep.verdict;
  // A path of the same place that was found without the callees reads better.
  if (deep.lost && deep.lost->lost_at != out.candidate.lost_at) out.candidate = *deep.lost;
  if (deep.verdict == Verdict::proved) out.verdict = alone.verdict;
  out.candidate.verdict = out.verdict;
  return out;
}

std::optional<Outcome> outcome_from(const Identities& identities, FunctionId function,
                                    std::string_view bytes) {
  constexpr std::size_t kHead = 2 + sizeof(std::uint64_t);
  if (bytes.size() < kHead) return std::nullopt;
  Outcome out;
  ArchiveReader head(bytes.substr(0, kHead));
  head(out.verdict, out.step, out.queries);
  if (out.verdict > Verdict::refuted || out.step > Step::callees) return std::nullopt;
  std::optional<std::vector<Candidate>> candidates =
      candidates_from(identities, function, bytes.substr(kHead));
  if (!candidates || candidates->size() != 1) return std::nullopt;
  out.candidate = std::move(candidates->front());
  return out;
}

std::string text_of(const std::vector<Fact>& passed) {
  std::string out;
  for (const Fact& each : passed) {
    out += fmt::format(" {},{},{}", each.low, each.high, each.nonzero);
  }
  return out;
}

// From an earlier run that looked at the same things, or now.
Outcome decide_or_recall(const Prover& prover, const Group& group, const std::vector<Fact>& passed,
                         KeptResults* keeps) {
  if (!keeps) return prover.decide(group, passed, nullptr);
  KeptResults& kept = *keeps;
  const FunctionId function = FunctionId::of(group.front().function);
  const std::uint64_t name = kept.name_of(
      function,
      fmt::format("{}{} {}", prover.steps(), text_of(passed), to_bytes(kept.identities(), group)));
  if (const std::optional<std::string_view> bytes = kept.find(function, name)) {
    if (std::optional<Outcome> known = outcome_from(kept.identities(), function, *bytes)) {
      return std::move(*known);
    }
  }
  Reads reads;
  Outcome out = prover.decide(group, passed, &reads);
  ArchiveWriter head;
  head(out.verdict, out.step, out.queries);
  kept.keep(function, name, head.bytes + to_bytes(kept.identities(), Group{out.candidate}), reads);
  return out;
}

}  // namespace

Proved prove(const Program& program, const Library& library, const std::vector<Summary>& summaries,
             std::vector<Candidate> candidates, const Limits& limits, const ProveLimits& budget,
             KeptResults* kept, unsigned threads) {
  const std::vector<Group> groups = groups_of(std::move(candidates));
  const Prover prover(program, library, summaries, limits, budget, groups.size());
  std::vector<Outcome> outcomes(groups.size());
  in_parallel(groups.size(), threads,
              [&](std::size_t i) { outcomes[i] = decide_or_recall(prover, groups[i], {}, kept); });

  // What is left once more, with what the callers pass: few enough to look at the callers.
  std::set<FunctionId> left;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (outcomes[i].verdict == Verdict::refuted) continue;
    left.insert(FunctionId::of(groups[i].front().function));
  }
  const PassedFacts passed =
      find_passed(program, library, summaries, limits, {left.begin(), left.end()}, threads);
  in_parallel(groups.size(), threads, [&](std::size_t i) {
    if (outcomes[i].verdict == Verdict::refuted) return;
    const auto facts = passed.find(groups[i].front().function);
    if (facts == passed.end()) return;
    // It can only say no: a path for all values reads better than one for those passed,
    // and numbers that are known make loops long.
    Outcome again = decide_or_recall(prover, groups[i], facts->second, kept);
    again.queries += outcomes[i].queries;
    if (again.verdict == Verdict::refuted) {
      outcomes[i] = std::move(again);
    } else {
      outcomes[i].queries = again.queries;
    }
  });

  Proved out;
  out.sites = groups.size();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Outcome& outcome = outcomes[i];
    out.queries += outcome.queries;
    // What all later rounds of a loop have in common is too little to go by alone.
    if (outcome.verdict == Verdict::undecided &&
        std::ranges::all_of(groups[i], &Candidate::later)) {
      ++out.no_path;
      continue;
    }
    if (outcome.verdict == Verdict::refuted) {
      ++(outcome.step == Step::path     ? out.no_path
         : outcome.step == Step::solver ? out.unsatisfiable
                                        : out.by_callees);
      continue;
    }
    if (outcome.verdict == Verdict::undecided) ++out.undecided;
    out.candidates.push_back(std::move(outcome.candidate));
  }
  return out;
}

}  // namespace plumb::check
