#include <algorithm>
#include <array>

#include "check/summary/function_run.h"

namespace plumb::check {

namespace {

// How often a path goes round one loop.
constexpr std::uint8_t kOpenExits = 3;   // when it could have left each time
constexpr std::uint8_t kOpenRounds = 6;  // when anything in it was open
constexpr std::uint8_t kRounds = 64;     // when all was decided: a loop that counts
constexpr std::size_t kMostWaiting = 3000;
constexpr std::uint32_t kHaste = 4;         // how many decisions a step towards the goal is worth
constexpr std::uint32_t kMostDetours = 16;  // branches that a guide does not name, or no path takes
constexpr std::size_t kMostLeftOut = 4;     // of these, together
constexpr std::uint32_t kDetour = 2;        // how many decisions of callees such a branch is worth
constexpr std::uint32_t kFar = UINT32_MAX;

}  // namespace

// Paths that wait to be followed, the one with the fewest open decisions first,
// those counted that lie ahead.
struct FunctionRun::Replaying {
  struct Loop {
    std::uint32_t head = 0;
    std::uint32_t end = 0;
    bool left = false;  // some path came out of it
    bool cut = false;   // some path was not followed round it
    bool holds(std::uint32_t block) const { return block >= head && block <= end; }
  };
  struct Rounds {
    std::uint8_t exits = 0;
    std::uint8_t open = 0;
    std::uint8_t all = 0;
    // The round in hand.
    bool could_leave = false;
    bool was_open = false;
  };
  struct Path {
    std::uint32_t decisions = 0;
    std::uint32_t cost = 0;
    std::uint32_t number = 0;
    std::uint32_t guided = 0;   // branches of the guide that it took
    std::uint32_t before = 0;   // decisions until the block was there, when there is a guide
    bool on_guide = false;      // it is there
    std::uint32_t detours = 0;  // branches between these
    bool astray = false;        // too many
    BlockIndex block;
    State state;
    std::vector<Rounds> rounds;  // by loop
  };
  static bool later(const Path& a, const Path& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.number < b.number;
  }

  // What the path has decided since the one in hand, held against the guide. Steps are
  // those since the block was made. The guide is the shortest of the ways that met where
  // states were merged, and so as a whole perhaps none: a path may decide otherwise here and
  // there, or go round a loop once more.
  void compare(Path& path, const std::vector<TrailNode>& trails) const {
    const std::uint32_t known = trails[now_trail].length;
    std::vector<TrailStep> steps;
    for (std::uint32_t at = path.state.trail; at && trails[at].length > known;
         at = trails[at].before) {
      steps.push_back(trails[at].step);
    }
    for (auto step = steps.rbegin(); step != steps.rend() && !path.astray; ++step) {
      if (step->branch < 0 || (guide->own && !(*guide->own)[step->operation])) continue;
      const std::uint32_t operation = guide->top ? (*guide->top)[step->operation] : step->operation;
      const std::size_t last = std::min(path.guided + kMostLeftOut, guide->branches.size());
      std::size_t at = path.guided;
      while (at < last &&
             (guide->branches[at].operation != operation ||
              guide->branches[at].branch != step->branch || guide->branches[at].way != step->way)) {
        ++at;
      }
      path.detours += at < last ? static_cast<std::uint32_t>(at - path.guided) : 1;
      if (at < last) path.guided = static_cast<std::uint32_t>(at + 1);
      path.astray = path.detours > kMostDetours;
    }
  }

  const OnLoss* on_loss = nullptr;
  const Guide* guide = nullptr;
  std::uint32_t now_trail = 0;  // of the path in hand, where its block began
  Defect defect = Defect::leak;
  std::vector<Loop> loops;
  std::vector<std::uint32_t> to_site;  // by block: how far it is
  std::vector<std::uint32_t> to_goal;
  std::vector<Path> waiting;  // a heap
  Path now;                   // the one in hand; its state is elsewhere
  std::uint32_t number = 0;
  bool open = false;  // the decision in hand could go either way
  bool stopped = false;
  bool truncated = false;
};

// Nothing more to learn on this path.
bool FunctionRun::is_over(const State& state) const {
  if (replaying_ && replaying_->stopped) return true;
  // What was freed matters as long as somebody could free it again.
  if (follows_freed(state)) return !is_seen(state);
  if (!replaying_) return state.fate != Fate::live;
  return state.fate == Fate::freed || state.fate == Fate::escaped;
}

void FunctionRun::decide_openly(bool open) {
  if (replaying_) replaying_->open = open;
}

ReplayEnd FunctionRun::replay(const Origin& site, Defect defect,
                              const std::vector<std::uint32_t>& goals, const Guide& guide,
                              const OnLoss& on_loss) {
  mode_ = Mode::site;
  site_ = {site.operation, site.callee, site.inner};
  focus_ = values_.object(ObjectId::of(ObjectKind::heap, 0));
  own_name_ = block_from(site_);
  begin();
  shape_.find_live(body_);
  replaying_ = std::make_shared<Replaying>();
  Replaying& r = *replaying_;
  r.on_loss = &on_loss;
  r.guide = &guide;
  r.defect = defect;
  for (std::uint32_t b = 0; b < body_.blocks.size(); ++b) {
    if (shape_.loop_head[b]) r.loops.push_back({b, shape_.loop_end[b]});
  }
  r.to_site = shape_.distances(body_, {shape_.block_of[site.operation]});
  std::vector<std::uint32_t> ends;
  for (const std::uint32_t goal : goals) ends.push_back(shape_.block_of[goal]);
  r.to_goal = shape_.distances(body_, ends);

  Replaying::Path first;
  first.state.vars.assign(body_.vars.size(), kNoValue);
  for (std::uint32_t i = 0; i < supposed_.size(); ++i) {
    if (!first.state.learn(values_, values_.param(i), supposed_[i])) return ReplayEnd::exhausted;
  }
  first.rounds.resize(r.loops.size());
  r.waiting.push_back(std::move(first));
  while (!r.waiting.empty()) {
    std::pop_heap(r.waiting.begin(), r.waiting.end(), Replaying::later);
    r.now = std::move(r.waiting.back());
    r.waiting.pop_back();
    std::vector<State> states;
    r.now_trail = r.now.state.fate == Fate::none ? 0 : r.now.state.trail;
    states.push_back(std::move(r.now.state));
    process(r.now.block, std::move(states), body_.blocks[r.now.block.index].begin);
    if (r.stopped) return ReplayEnd::stopped;
    if (run_work_ > limits_.run_work) return ReplayEnd::truncated;
  }
  const bool stuck = std::any_of(r.loops.begin(), r.loops.end(),
                                 [](const auto& loop) { return loop.cut && !loop.left; });
  return r.truncated || stuck ? ReplayEnd::truncated : ReplayEnd::exhausted;
}

// The path comes to the place that makes the block: this may be the one to
// follow, or, in a loop, one of a later round.
void FunctionRun::start_replayed(State state, std::uint32_t index, std::vector<State>& after) {
  State later = state;
  std::vector<State> made;
  starting_ = true;
  call(std::move(state), index, made);
  starting_ = false;
  for (State& each : made) {
    if (each.fate != Fate::live && !follows_freed(each)) continue;
    each.trail = 0;
    each.way_out = 0;
    after.push_back(std::move(each));
  }
  const std::uint32_t block = shape_.block_of[index];
  const bool again = std::any_of(replaying_->loops.begin(), replaying_->loops.end(),
                                 [&](const auto& loop) { return loop.holds(block); });
  if (again) call(std::move(later), index, after);
}

void FunctionRun::send_replayed(BlockIndex from, BlockIndex to, State state) {
  Replaying& r = *replaying_;
  if (r.stopped) return;
  const std::vector<std::uint32_t>& live = shape_.live_in[to.index];
  bool held = false;
  std::erase_if(state.results, [&](const auto& entry) {
    const bool dead = std::find(live.begin(), live.end(), entry.first) == live.end() &&
                      shape_.block_of[entry.first] != to.index;
    held = held || (dead && holds_focus(entry.second));
    return dead;
  });
  if (held) {
    last_holder_ = {};
    check_lost(state, body_.blocks[from.index].end - 1, LossKind::discarded);
    if (is_over(state)) return;
  }
  const auto& distance = state.fate == Fate::none ? r.to_site : r.to_goal;
  if (distance[to.index] == kFar) return;

  Replaying::Path path;
  path.rounds = r.now.rounds;
  for (std::size_t i = 0; i < r.loops.size(); ++i) {
    Replaying::Loop& loop = r.loops[i];
    if (!loop.holds(from.index)) continue;
    Replaying::Rounds& rounds = path.rounds[i];
    if (!loop.holds(to.index)) {
      rounds = {};
      loop.left = true;
      continue;
    }
    rounds.was_open = rounds.was_open || r.open;
    rounds.could_leave =
        rounds.could_leave || (r.open && shape_.leaves(body_, from, loop.head, loop.end));
    if (to.index == loop.head) {
      ++rounds.all;
      rounds.exits += rounds.could_leave ? 1 : 0;
      rounds.open += rounds.was_open ? 1 : 0;
      rounds.could_leave = rounds.was_open = false;
      if (rounds.exits >= kOpenExits || rounds.open > kOpenRounds || rounds.all > kRounds) {
        loop.cut = true;
        return;
      }
    }
  }
  path.decisions = r.now.decisions + (r.open ? 1 : 0);
  path.cost = path.decisions + kHaste * distance[to.index];
  path.number = ++r.number;
  path.block = to;
  path.state = std::move(state);
  path.guided = r.now.guided;
  path.detours = r.now.detours;
  path.astray = r.now.astray;
  path.on_guide = path.state.fate != Fate::none && !r.guide->branches.empty();
  path.before = r.now.on_guide ? r.now.before : path.decisions;
  if (path.on_guide) r.compare(path, trails_);
  if (path.astray) return;
  // One that has the block and keeps to the guide comes before all that are on their way to
  // the block, however far the loss is: what counts is what the guide does not say.
  if (path.on_guide) {
    const std::uint32_t taken = path.decisions - path.before;
    path.cost = taken - std::min(taken, path.guided) + kDetour * path.detours;
  }
  if (r.waiting.size() >= kMostWaiting) {
    r.truncated = true;
    return;
  }
  r.waiting.push_back(std::move(path));
  std::push_heap(r.waiting.begin(), r.waiting.end(), Replaying::later);
}

// The followed block was freed, and it is of interest whether it is again.
bool FunctionRun::follows_freed(const State& state) const {
  if (mode_ != Mode::site || state.fate != Fate::freed || state.freed_at == kNotFreed) {
    return false;
  }
  return replaying_ ? replaying_->defect == Defect::double_free : limits_.double_free;
}

void FunctionRun::replayed_loss(const State& state, const Candidate& candidate) {
  if (replaying_->stopped || replaying_->defect != defect_of(candidate.kind)) return;
  if ((*replaying_->on_loss)(values_, state, candidate)) replaying_->stopped = true;
}

}  // namespace plumb::check
