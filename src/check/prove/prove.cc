#include "check/prove/prove.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/archive.h"
#include "base/parallel.h"
#include "check/prove/inline.h"
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

  Outcome decide(const Group& group, Reads* reads) const;

  // What a verdict depends on besides the program.
  unsigned steps() const { return steps_; }

 private:
  using MakeRun = std::function<FunctionRun()>;
  Answer follow(FunctionRun run, const Origin& site, Defect defect,
                const std::vector<std::uint32_t>& goals, const Guide& guide, bool anywhere) const;
  Answer replay(const MakeRun& run, const Origin& site, Defect defect,
                const std::vector<std::uint32_t>& goals, const Guide& guide, bool anywhere) const;
  Answer replay_with_callees(const Group& group, const Known& known) const;
  Answer replay_inlined(const Group& group, const Known& known, const Inlined& inlined) const;

  const Program& program_;
  const Library& library_;
  const std::vector<Summary>& summaries_;
  const ProveLimits& budget_;
  const std::vector<bool> done_;
  const std::vector<FunctionId> none_;
  Limits limits_;
  unsigned steps_ = 0;
};

Answer Prover::follow(FunctionRun run, const Origin& site, Defect defect,
                      const std::vector<std::uint32_t>& goals, const Guide& guide,
                      bool anywhere) const {
  Answer answer;
  bool unsure = false;
  // Merged states may see a loss late: what a result in another block still held.
  std::optional<Candidate> elsewhere;
  const OnLoss on_loss = [&](const Values& values, const State& state, const Candidate& lost) {
    // With the callees in place the block may be seen to go elsewhere; it goes.
    const bool here = anywhere || std::ranges::find(goals, lost.lost_at) != goals.end();
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
  switch (run.replay(site, defect, goals, guide, on_loss)) {
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
Answer Prover::replay(const MakeRun& run, const Origin& site, Defect defect,
                      const std::vector<std::uint32_t>& goals, const Guide& guide,
                      bool anywhere) const {
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

// With the callees' bodies in place: all that fit. Where some do not, first those that the
// block goes through alone: they decide, wherever in the function they are. When there are
// too many paths, only the smaller ones, of the others what their summaries say.
Answer Prover::replay_with_callees(const Group& group, const Known& known) const {
  constexpr InlineLimits kSteps[] = {
      InlineLimits{},
      {.depth = 2, .callee = 120, .other = 0, .total = 2500},
      {.depth = 1, .callee = 60, .maker = 240, .other = 0, .total = 1200}};
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
      answer = replay_inlined(
          group, known,
          inline_callees(program_, summaries_, function, group.front().origin, few, known.reads));
      queries += answer.queries;
      if (answer.verdict == Verdict::refuted) break;
    }
    if (inlined.body.operations.size() == last) continue;  // nothing was left out
    last = inlined.body.operations.size();
    if (inlined.calls == 0) return {Verdict::proved, true, {}, queries};
    answer = replay_inlined(group, known, inlined);
    queries += answer.queries;
    if (answer.verdict != Verdict::undecided) break;
  }
  answer.queries = queries;
  return answer;
}

// What is found is said of the caller.
Answer Prover::replay_inlined(const Group& group, const Known& known,
                              const Inlined& inlined) const {
  const Candidate& first = group.front();
  const FunctionId function = FunctionId::of(first.function);
  std::vector<std::uint32_t> goals;
  for (std::uint32_t i = 0; i < inlined.top.size(); ++i) {
    const bool is_goal = std::ranges::any_of(
        group, [&](const Candidate& each) { return each.lost_at == inlined.top[i]; });
    if (is_goal) goals.push_back(i);
  }
  Guide guide = guide_of(group);
  guide.top = &inlined.top;
  guide.own = &inlined.own;
  const MakeRun run = [&] {
    return FunctionRun(program_, library_, known, function, LinkedBody{inlined.body}, limits_);
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
  std::erase_if(lost.trail, [&](const TrailStep& step) { return !inlined.own[step.operation]; });
  for (TrailStep& step : lost.trail) step.operation = inlined.top[step.operation];
  return answer;
}

Outcome Prover::decide(const Group& group, Reads* reads) const {
  const Known known{summaries_, done_, none_, false, reads};
  const Candidate& first = group.front();
  std::vector<std::uint32_t> goals;
  for (const Candidate& each : group) goals.push_back(each.lost_at);
  Outcome out;
  const MakeRun run = [&] {
    return FunctionRun(program_, library_, known, FunctionId::of(first.function), limits_);
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
  const Answer deep = replay_with_callees(group, known);
  out.queries += deep.queries;
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

// From an earlier run that looked at the same things, or now.
Outcome decide_or_recall(const Prover& prover, const Group& group, KeptResults& kept) {
  const FunctionId function = FunctionId::of(group.front().function);
  const std::uint64_t name = kept.name_of(
      function, fmt::format("{} {}", prover.steps(), to_bytes(kept.identities(), group)));
  if (const std::optional<std::string_view> bytes = kept.find(function, name)) {
    if (std::optional<Outcome> known = outcome_from(kept.identities(), function, *bytes)) {
      return std::move(*known);
    }
  }
  Reads reads;
  Outcome out = prover.decide(group, &reads);
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
  in_parallel(groups.size(), threads, [&](std::size_t i) {
    outcomes[i] = kept ? decide_or_recall(prover, groups[i], *kept) : prover.decide(groups[i], {});
  });

  Proved out;
  out.sites = groups.size();
  for (Outcome& outcome : outcomes) {
    out.queries += outcome.queries;
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
