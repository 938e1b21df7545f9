#include "compiled/stacks.h"

#include "common/process.h"
#include "common/stack_depot.h"
#include "common/trace_file.h"
#include "compiled/options.h"
#include "compiled/site_filter.h"
#include "compiled/thread_heap.h"
#include "compiled/walk.h"

namespace plumb::rt {

namespace {

// Of a short stack: as many frames, out of so many that are looked at.
constexpr unsigned kShortDepth = 16;
constexpr unsigned kShortWay = 24;

// In SeenStack::caller, beside the address: a short one.
constexpr uintptr_t kShortMark = uintptr_t{1} << 63;

// False when the walk cannot be checked later.
bool remember(SeenStack& seen, const StackWalk& walk, uintptr_t frame) {
  if (walk.count > kCachedDepth) return false;
  for (unsigned i = 0; i < walk.count; ++i) {
    const uintptr_t words = (walk.places[i] - frame) / sizeof(uintptr_t);
    if (walk.places[i] < frame || words > UINT32_MAX ||
        *reinterpret_cast<const uintptr_t*>(walk.places[i]) != walk.addresses[i]) {
      return false;
    }
    seen.places[i] = static_cast<uint32_t>(words);
  }
  return true;
}

void keep(SeenStack& seen, const StackWalk& walk, uintptr_t frame, uintptr_t caller,
          uint32_t stack) {
  seen.frame = 0;
  seen.number = 0;
  if (stack == 0 || !remember(seen, walk, frame)) return;
  seen.frame = frame;
  seen.caller = caller;
  seen.epoch = module_epoch();
  seen.stack = stack;
  seen.count = walk.count;
}

uint64_t sum_with(uint64_t sum, uint64_t address) { return (sum << 7 | sum >> 57) ^ address; }

uint64_t sum_of(const SeenStack& seen) {
  const auto* words = reinterpret_cast<const uintptr_t*>(seen.frame);
  uint64_t sum = 0;
#pragma clang loop unroll(disable) vectorize(disable)
  for (uint32_t i = 0; i < seen.count; ++i) sum = sum_with(sum, words[seen.places[i]]);
  return sum;
}

// Each address once, where it is first.
unsigned fold_recursion(const StackWalk& walk, uintptr_t* kept) {
  unsigned count = 0;
  for (unsigned i = 0; i < walk.count && count < kShortDepth; ++i) {
    unsigned known = 0;
    while (known < count && kept[known] != walk.addresses[i]) ++known;
    if (known == count) kept[count++] = walk.addresses[i];
  }
  return count;
}

// A recursion that never allocates twice from the same frames would fill the memory
// with its stacks: later ones are then folded, and the report says so.
constexpr uint64_t kManyWords = uint64_t{1} << 21;

bool too_many_stacks() {
  const uint64_t& used = trace().header().sections[PLUMB_SECTION_STACKS].used;
  return __atomic_load_n(&used, __ATOMIC_RELAXED) > kManyWords;
}

}  // namespace

__attribute__((noinline)) uint32_t walk_stack(Inside& in, ThreadHeap& heap, SeenStack& seen,
                                              uintptr_t frame, uintptr_t caller) {
  StackWalk walk;
  walk_up(heap, walk, frame, caller,
          process().stack_depth < kMaxDepth ? process().stack_depth : kMaxDepth);
  if (__builtin_expect(too_many_stacks(), 0)) {
    trace().limit(PLUMB_LIMIT_SHORT_STACKS);
    uintptr_t kept[kShortDepth];
    const unsigned count = fold_recursion(walk, kept);
    return stack_id(in, kept, count);
  }
  const uint32_t stack = stack_id(in, walk.addresses, walk.count);
  keep(seen, walk, frame, caller, stack);
  seen.unchosen = !is_chosen_site(in, stack);
  return stack;
}

namespace {

bool is_this_short_stack(const SeenStack& seen, uintptr_t frame, uintptr_t caller) {
  return seen.frame == frame && seen.caller == (caller | kShortMark) &&
         seen.epoch == module_epoch() && sum_of(seen) == seen.sum;
}

}  // namespace

SeenStack* seen_short_stack(ThreadHeap& heap, uintptr_t frame, uintptr_t caller) {
  SeenStack& seen = seen_for(heap, frame, caller);
  return is_this_short_stack(seen, frame, caller) ? &seen : nullptr;
}

uint32_t short_stack(Inside& in, uintptr_t frame, uintptr_t caller) {
  if (options().whole_stacks) return seen_stack(in, frame, caller);
  ThreadHeapUse heap(in);
  SeenStack& seen = seen_for(*heap, frame, caller);
  if (is_this_short_stack(seen, frame, caller)) return seen.stack;
  StackWalk walk;
  const unsigned wanted = process().stack_depth;
  walk_up(*heap, walk, frame, caller, wanted < kShortWay ? wanted : kShortWay);
  uintptr_t kept[kShortDepth];
  const unsigned count = fold_recursion(walk, kept);
  const uint32_t stack = stack_id(in, kept, count);
  keep(seen, walk, frame, caller | kShortMark, stack);
  if (seen.frame != 0) {
    seen.sum = 0;
    for (unsigned i = 0; i < walk.count; ++i) seen.sum = sum_with(seen.sum, walk.addresses[i]);
  }
  return stack;
}

}  // namespace plumb::rt
