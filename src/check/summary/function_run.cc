#include "check/summary/function_run.h"

#include <algorithm>

namespace plumb::check {

FunctionRun::FunctionRun(const Program& program, const Library& library, const Known& known,
                         FunctionId function, const Limits& limits)
    : program_(program, known.reads),
      library_(library),
      known_(known),
      id_(function),
      where_(program.functions()[function.index]),
      body_(*where_.body),
      limits_(limits),
      shape_(body_) {}

FunctionRun::FunctionRun(const Program& program, const Library& library, const Known& known,
                         FunctionId function, const LinkedBody& linked, const Limits& limits)
    : program_(program, known.reads),
      library_(library),
      known_(known),
      id_(function),
      where_(program.functions()[function.index]),
      body_(linked.body),
      limits_(limits),
      linked_(true),
      shape_(body_) {}

Summary FunctionRun::run(std::vector<Candidate>& candidates) {
  candidates_ = &candidates;
  run_plain();
  if (summary_.over_budget) return std::move(summary_);
  summary_.known = true;
  export_plain();
  for (const auto& [site, before] : sites_) run_site(site, before);
  // What comes up from further down comes under any condition on the arguments.
  for (NewBlock& block : summary_.blocks) {
    if (std::ranges::find(passed_up_, block.origin) == passed_up_.end()) continue;
    for (Case& each : block.cases) each.guards.clear();
  }
  std::sort(touched_inputs_.begin(), touched_inputs_.end());
  run_inputs();
  for (const Site& site : kept_at_first_) follow_later_rounds(site);
  return std::move(summary_);
}

void FunctionRun::run_plain() {
  mode_ = Mode::plain;
  focus_ = kNoValue;
  begin();
  State start;
  start.vars.assign(body_.vars.size(), kNoValue);
  pending_[0].push_back({0, std::move(start)});
  explore();
  if (run_work_ > limits_.run_work) {
    cut(Cut::work);
    summary_.over_budget = true;
    summary_.effect.returns = true;
  }
}

bool FunctionRun::follow_calls(const OnCall& on_call) {
  on_call_ = &on_call;
  run_plain();
  on_call_ = nullptr;
  return !partial_ && !summary_.over_budget && summary_.cuts == 0;
}

void FunctionRun::note_call(const State& state, std::uint32_t index, FunctionId callee,
                            const std::vector<ValueId>& arguments) const {
  std::vector<Passed> passed;
  for (const ValueId each : arguments) {
    const Value& v = values_[each];
    const bool own = v.kind == ValueKind::param;
    passed.push_back(
        {state.fact(values_, each), own ? static_cast<std::uint32_t>(v.number) : Passed::kNone});
    if (is_nonzero(state, each)) passed.back().fact.nonzero = true;
  }
  (*on_call_)(index, callee, passed);
}

// The first way to a site is the most exact.
void FunctionRun::note_site(const Site& site, const State& before) {
  const bool first = sites_.try_emplace(site, before).second;
  if (!first && shape_.in_loop[shape_.block_of[site.operation]]) later_rounds_[site] = before;
}

void FunctionRun::run_site(const Site& site, const State& before) {
  if (work_ > limits_.work) {
    summary_.over_budget = true;
    cut(Cut::work);
    return;
  }
  mode_ = Mode::site;
  site_ = site;
  focus_ = values_.object(ObjectId::of(ObjectKind::heap, 0));
  own_name_ = block_from(site);
  outlived_ = false;
  const std::size_t found = candidates_->size();
  follow_site(site, before);
  // A loop that counts makes a list, and the first of its blocks is not the one that is
  // handed out: any other may be.
  const auto later = later_rounds_.find(site);
  if (candidates_->size() == found && later != later_rounds_.end() && work_ <= limits_.work) {
    if (outlived_ && cases_.empty()) {
      follow_site(site, later->second);
    } else {
      kept_at_first_.push_back(site);
    }
  }
  if (run_work_ > limits_.run_work) cut(Cut::work);
  if (cases_overflow_) cut(Cut::cases);
  // Whether a block stays in a global while a cycle goes round is not known.
  if (known_.component.size() > 1) {
    std::erase_if(cases_, [](const Case& each) { return each.parked != kNotParked; });
  }
  if (cases_.empty()) return;
  if (const std::optional<Origin> own = made_further_down(site)) {
    const bool returned = std::ranges::any_of(cases_, [&](const Case& each) {
      return each.result != kNoValue && holds_focus(each.result);
    });
    if (returned) passed_up_.push_back(*own);
    return;
  }
  if (summary_.blocks.size() >= limits_.blocks) {
    cut(Cut::blocks);
    return;
  }
  NewBlock made;
  made.origin = {id_.index, site.operation, site.callee, site.inner};
  made.family = family_;
  made.cases = export_cases();
  if (!made.cases.empty()) summary_.blocks.push_back(std::move(made));
}

// The first block of a site in a loop is not lost. Any other may be: `if (!first) first =
// block`. What becomes of the first is what the summary says, and this is looked for when all
// else is done, with what is left of the budget.
void FunctionRun::follow_later_rounds(const Site& site) {
  if (work_ > limits_.work) return;
  mode_ = Mode::site;
  site_ = site;
  focus_ = values_.object(ObjectId::of(ObjectKind::heap, 0));
  own_name_ = block_from(site);
  later_round_ = true;
  const std::uint8_t cuts = summary_.cuts;
  const std::size_t found = candidates_->size();
  follow_site(site, later_rounds_.at(site));
  for (std::size_t i = found; i < candidates_->size(); ++i) (*candidates_)[i].later = true;
  summary_.cuts = cuts;
  later_round_ = false;
}

void FunctionRun::follow_site(const Site& site, State before) {
  begin();
  before.trail = 0;
  before.way_out = 0;
  before.used_at = 0;
  before.merged = false;
  std::vector<State> after;
  starting_ = true;
  call(std::move(before), site.operation, after);
  std::erase_if(
      after, [&](const State& state) { return state.fate != Fate::live && !follows_freed(state); });
  process(BlockIndex::of(shape_.block_of[site.operation]), std::move(after), site.operation);
  explore();
}

// A block that this function gets by calling itself: the one that it makes on the
// way down stands for it, or each round would hand out one more.
std::optional<Origin> FunctionRun::made_further_down(const Site& site) const {
  constexpr int kLongest = 64;
  std::uint32_t callee = site.callee;
  std::uint32_t inner = site.inner;
  for (int i = 0; i < kLongest && callee != Origin::kNone; ++i) {
    if (!known_.is_own(FunctionId::of(callee))) return std::nullopt;
    const Summary* summary = known_.find(FunctionId::of(callee));
    if (!summary || inner >= summary->blocks.size()) return std::nullopt;
    const Origin& origin = summary->blocks[inner].origin;
    if (callee == id_.index) return origin;
    callee = origin.callee;
    inner = origin.inner;
  }
  return std::nullopt;
}

// Where not all inputs can be listed, callers give up whatever hangs on their arguments,
// so that to know of some is of no use to them. Most of what is touched gets an entry:
// with twice as many as can be listed it is not even tried, with fewer until one fails.
// (Of lua's functions with more than 24, 181 of 193 fail, and took most of the time.)
void FunctionRun::run_inputs() {
  if (touched_inputs_.size() > std::size_t{2} * limits_.inputs) {
    cut(Cut::inputs);
    summary_.complete = false;
  }
  for (const ValueId input : touched_inputs_) {
    if (!summary_.complete) return;
    run_input(input);
  }
}

void FunctionRun::run_input(ValueId input) {
  const Value& whole = values_[input];
  const bool is_first = whole.kind == ValueKind::param && whole.number == 0;
  if (is_first && is_member_of_container(program_.name(id_))) return;
  if (work_ > limits_.work || summary_.inputs.size() >= limits_.inputs) {
    cut(work_ > limits_.work ? Cut::work : Cut::inputs);
    summary_.complete = false;
    return;
  }
  mode_ = Mode::input;
  focus_ = input;
  begin();
  State start;
  start.vars.assign(body_.vars.size(), kNoValue);
  start.fate = Fate::live;
  // Where it is when the function is entered: a path that leaves it there is not to
  // be merged with one that overwrites it.
  const Value own = values_[input];
  if (own.kind == ValueKind::cell) start.set_cell(own.a, own.number, own.width, input);
  // What happens when it is null happens to no block.
  (void)start.learn(values_, input, {.nonzero = true});
  pending_[0].push_back({0, std::move(start)});
  explore();
  if (run_work_ > limits_.run_work) {
    cut(Cut::work);
    cases_overflow_ = true;
  } else if (cases_overflow_) {
    cut(Cut::cases);
  }
  if (cases_overflow_) {
    summary_.complete = false;
    return;
  }
  // A block that always stays as it is needs no entry.
  const bool matters = std::any_of(cases_.begin(), cases_.end(), [](const Case& each) {
    return each.fate != Fate::live || !each.in_place || !each.holders.empty();
  });
  if (!matters && input != kNoValue) {
    const bool returned = std::any_of(cases_.begin(), cases_.end(), [&](const Case& each) {
      return each.result != kNoValue && holds_focus(each.result);
    });
    if (!returned) return;
  }
  Input out;
  out.cases = export_cases();
  out.value = out.cases.empty() ? kNoValue : exported_(input);
  if (!out.cases.empty()) summary_.inputs.push_back(std::move(out));
}

}  // namespace plumb::check
