#include "watch/reach.h"

#include <signal.h>

#include "common/heap_layout.h"
#include "common/heap_walk.h"
#include "common/inside.h"
#include "common/maps.h"
#include "common/memory.h"
#include "common/own_stack.h"
#include "common/placement.h"
#include "common/roots.h"
#include "common/safe_copy.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "watch/end_blocks.h"
#include "watch/model.h"
#include "watch/next.h"
#include "watch/watcher.h"

namespace plumb::rt {

namespace {

constexpr size_t kWord = sizeof(uintptr_t);
// A block that lies anywhere costs as much as so many bytes that are read in a row.
constexpr uint64_t kBlockCost = 256;
// Of a heap the walk reads a word here and there.
constexpr uint64_t kWalked = 16;

bool knows_heap = false;

class Search {
 public:
  explicit Search(uint64_t most_bytes) : left_(most_bytes) {}
  PlumbWatchSearch run(StopResult& stopped, uintptr_t stack_pointer);
  void release();

 private:
  bool list_excluded(uintptr_t stack_pointer);
  void spend(uint64_t bytes) {
    if (left_ < bytes) too_large_ = true;
    left_ -= bytes;
  }
  void reach(uintptr_t address);
  void reach_from(Range range, uintptr_t shown_at);
  void drain();
  static void visit_root(void* context, Range range) {
    auto& search = *static_cast<Search*>(context);
    search.reach_from(range, range.begin);
    search.drain();
  }
  void give_verdicts();

  uint64_t left_;
  bool too_large_ = false;
  bool no_room_ = false;
  EndBlocks blocks_;
  OwnVector<Mapping> mappings_;
  OwnVector<Range> excluded_;
  OwnVector<EndBlock> pending_;  // reached, and not yet looked into
  uintptr_t words_[512];         // of a page
};
alignas(Search) char search_room[sizeof(Search)];
int searches = 0;

// What is no root: ours, blocks, what was freed, and the dead part of the first stack.
bool Search::list_excluded(uintptr_t stack_pointer) {
  excluded_.push(own_module());
  for (size_t i = 0; i < own_range_count(); ++i) excluded_.push(own_range(i));
  blocks_.exclude(excluded_);
  if (knows_heap) excluded_.push(main_arena_range());
  const Mapping* stack = mapping_at(mappings_, stack_pointer);
  if (stack != nullptr && stack->stack) excluded_.push({stack->range.begin, stack_pointer});
  normalise(excluded_);
  return !excluded_.failed();
}

void Search::reach(uintptr_t address) {
  const EndBlock block = blocks_.find(address);
  if (!block.is_there() || blocks_.is_reached(block)) return;
  blocks_.reach(block);
  spend(kBlockCost);
  if (!pending_.push(block)) no_room_ = true;
}

void Search::reach_from(Range range, uintptr_t shown_at) {
  uintptr_t at = (range.begin + kWord - 1) & ~(kWord - 1);
  while (at + kWord <= range.end && !too_large_) {
    // Pieces end at page bounds: what cannot be read costs the rest of one page.
    uintptr_t stop = page_down(at) + sizeof words_;
    if (stop > range.end) stop = range.end;
    const auto* from = reinterpret_cast<const void*>(at - range.begin + shown_at);
    const size_t count = safe_copy(words_, from, (stop - at) & ~(kWord - 1)) / kWord;
    spend(stop - at);
    for (size_t i = 0; i < count; ++i) reach(words_[i]);
    at = stop;
  }
}

void Search::drain() {
  while (pending_.size() != 0 && !too_large_) {
    const EndBlock next = pending_[pending_.size() - 1];
    pending_.pop();
    reach_from(next.range, next.shown_at);
  }
}

void Search::give_verdicts() {
  for (uint32_t index = 1; index < model().sample_end(); ++index) {
    const EndBlock block = blocks_.of_sample(index);
    if (block.is_there() && !blocks_.is_reached(block)) model().set_lost(index);
  }
}

PlumbWatchSearch Search::run(StopResult& stopped, uintptr_t stack_pointer) {
  if (!read_maps(mappings_)) return PLUMB_WATCH_SEARCH_FAILED;
  const uint64_t most = left_ > UINT64_MAX / kWalked ? UINT64_MAX : kWalked * left_;
  if (!blocks_.list(mappings_, knows_heap, most)) {
    return blocks_.were_too_large() ? PLUMB_WATCH_TOO_LARGE : PLUMB_WATCH_SEARCH_FAILED;
  }
  if (!list_excluded(stack_pointer)) return PLUMB_WATCH_SEARCH_FAILED;
  for (const StoppedThread& thread : stopped.threads) {
    visit_root(this, thread.context);
    visit_root(this, thread.vectors);
    for (unsigned i = 0; i < thread.word_count; ++i) reach(thread.words[i]);
    drain();
  }
  RootWalk(mappings_, excluded_).visit(visit_root, this);
  if (no_room_) return PLUMB_WATCH_SEARCH_FAILED;
  if (too_large_) return PLUMB_WATCH_TOO_LARGE;
  give_verdicts();
  return PLUMB_WATCH_SEARCHED;
}

void Search::release() {
  blocks_.release();
  mappings_.release();
  excluded_.release();
  pending_.release();
}

PlumbWatchSearch guarded_run(Search& search, StopResult& stopped, uintptr_t stack_pointer) {
  FaultGuard guard;
  if (PLUMB_RT_FAULTED()) return PLUMB_WATCH_SEARCH_FAILED;
  return search.run(stopped, stack_pointer);
}

struct Call {
  uint64_t most_bytes;
  uintptr_t stack_pointer;
};

void stop_and_search(void* argument) {
  const auto& call = *static_cast<const Call*>(argument);
  StopResult stopped;
  stop_world(stopped);
  model().begin_search();
  Search& search = *new (search_room) Search(call.most_bytes);
  const PlumbWatchSearch outcome = guarded_run(search, stopped, call.stack_pointer);
  search.release();
  model().end_search(outcome);
}

}  // namespace

void prepare_reach() {
  knows_heap = next_allocator.is_glibc && prepare_heap_layout();
  if (knows_heap) prepare_heap_walk();
}

bool find_lost(uint64_t most_bytes, uintptr_t stack_pointer) {
  // A signal handler of the program's ended it while this thread was in our tables.
  if (must_postpone(thread_state)) return false;
  if (most_bytes == 0 || !model().has_samples()) return false;
  // Two threads may end it at once.
  if (__atomic_fetch_add(&searches, 1, __ATOMIC_RELAXED) != 0) return false;
  if (is_shut_in()) return false;
  uint64_t old_mask = 0;
  sys_sigmask(SIG_SETMASK, ~(signal_bit(SIGSEGV) | signal_bit(SIGBUS)), &old_mask);
  model().stop_clock();
  Call call{most_bytes, stack_pointer};
  run_on_own_stack(stop_and_search, &call);
  sys_sigmask(SIG_SETMASK, old_mask, nullptr);
  return true;
}

}  // namespace plumb::rt
