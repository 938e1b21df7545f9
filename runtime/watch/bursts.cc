#include "watch/bursts.h"

#include "common/inside.h"
#include "common/process.h"
#include "common/stack_depot.h"
#include "common/text.h"
#include "watch/arena.h"
#include "watch/export.h"
#include "watch/model.h"
#include "watch/sampler.h"
#include "watch/stacks.h"

namespace plumb::rt {

BurstSettings burst_settings;

namespace {

constexpr unsigned kWay = 16;          // checks kept of a burst
constexpr unsigned kAccessDepth = 12;  // frames kept of an access
constexpr uint64_t kMostLeft = 0x3fffffff;
constexpr unsigned kLevels = 32;

// Rounds of innermost loops that call nothing, from one check to the next.
constexpr int kShortRounds = 16;
constexpr unsigned kNoted = 16;
// Stacks taken in one burst.
constexpr unsigned kMostStacks = 32;

// An access of this burst: others from the same place to the same block are alike.
struct Noted {
  uintptr_t window;
  uintptr_t caller;
  uint32_t stack;
};

struct Burst {
  // What the compiled code reads (plugin/sampled_abi.h).
  int left;    // checks until it is over
  int rounds;  // of short loops, until the next check
  ArenaRange arena;
  // What it does not.
  unsigned used;  // of `way`
  uintptr_t way[kWay];
  uint64_t dice;
  Noted noted[kNoted];
  unsigned stacks;
};
static_assert(__builtin_offsetof(Burst, rounds) == 4 && __builtin_offsetof(Burst, arena) == 8);
thread_local constinit Burst burst __attribute__((tls_model("initial-exec"))){};

void pass_check(uintptr_t place) { burst.way[burst.used++ % kWay] = place; }

void begin_burst() {
  if (burst.left <= 0) {
    burst.used = 0;
    burst.stacks = 0;
    for (Noted& noted : burst.noted) noted = {};
    burst.arena = arena_range;
    sample_denser(true);
  }
  burst.left = static_cast<int>(burst_settings.length);
  burst.rounds = kShortRounds;
}

int take_one() {
  burst.rounds = kShortRounds;
  if (--burst.left > 0) return 1;
  sample_denser(false);
  return 0;
}

// How many executions lie between the burst of this level and the next one. Drawn
// around the mean: checks that run at the same time would meet again and again.
uint32_t distance_after(unsigned level) {
  const BurstSettings& s = burst_settings;
  uint64_t rate = 1;
  for (unsigned i = 0; i <= level && rate < s.least_of; ++i) rate *= s.decrease;
  if (rate > s.least_of) rate = s.least_of;
  const uint64_t mean = (rate - 1) * s.length;
  burst.dice = burst.dice * 6364136223846793005u + 1442695040888963407u;
  const uint64_t drawn = mean / 2 + (mean != 0 ? (burst.dice >> 33) % (mean + 1) : 0);
  return static_cast<uint32_t>(drawn < kMostLeft ? drawn : kMostLeft);
}

// "10", "0.1%": as one of so many.
uint64_t take_share(const char* at) {
  double value = static_cast<double>(take_decimal(at));
  if (*at == '.') {
    double digit = 0.1;
    for (++at; *at >= '0' && *at <= '9'; ++at, digit /= 10) value += digit * (*at - '0');
  }
  if (*at == '%') value /= 100;
  if (!(value > 1e-9)) return uint64_t{1} << 30;
  return value >= 1 ? 1 : static_cast<uint64_t>(1 / value + 0.5);
}

// Ways are many: there are always new ones, and each is kept for good. So only so many
// of them are: some at the start, and some for each time that the run has doubled.
constexpr uint32_t kFirstWays = 256;
constexpr uint32_t kMoreWays = 128;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kWaySlots = 4096;
uint64_t known_ways[kWaySlots];  // half of a hash, and an id
uint32_t ways_kept;

bool one_more_way() {
  const uint64_t seconds = model().now() / kSecond + 1;
  const auto doubled = static_cast<uint32_t>(63 - __builtin_clzll(seconds));
  if (__atomic_load_n(&ways_kept, __ATOMIC_RELAXED) >= kFirstWays + kMoreWays * doubled) {
    return false;
  }
  __atomic_fetch_add(&ways_kept, 1, __ATOMIC_RELAXED);
  return true;
}

// The checks that the burst has passed, newest first, as a stack; 0: not known.
uint32_t way_id(Inside& in) {
  uintptr_t newest_first[kWay];
  const unsigned count = burst.used < kWay ? burst.used : kWay;
  uint64_t hash = 0;
  for (unsigned i = 0; i < count; ++i) {
    newest_first[i] = burst.way[(burst.used - 1 - i) % kWay];
    hash = (hash ^ newest_first[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  if (count == 0) return 0;
  uint64_t& slot = known_ways[hash % kWaySlots];
  const uint64_t known = __atomic_load_n(&slot, __ATOMIC_RELAXED);
  if (known != 0 && known >> 32 == hash >> 32) return static_cast<uint32_t>(known);
  if (!one_more_way()) return 0;
  const uint32_t id = stack_id(in, newest_first, count);
  __atomic_store_n(&slot, (hash >> 32 << 32) | id, __ATOMIC_RELAXED);
  return id;
}

__attribute__((noinline)) void note_access(const void* address, uintptr_t caller) {
  if (!tracking()) return;
  Inside in;
  if (!in.outermost()) return;
  const uintptr_t window = reinterpret_cast<uintptr_t>(address) / kWindow;
  Noted& noted = burst.noted[(caller ^ caller >> 5 ^ window) % kNoted];
  if (noted.window != window || noted.caller != caller) {
    if (burst.stacks++ >= kMostStacks) return;
    noted = {window, caller, own_stack(in, caller, kAccessDepth)};
  }
  model().note_access(in, address, noted.stack, way_id(in));
}

}  // namespace

void read_burst_settings(const char* text) {
  while (*text != 0) {
    if (const char* value = after(text, "decrease="); value != nullptr) {
      burst_settings.decrease = take_decimal(value);
      if (burst_settings.decrease < 2) burst_settings.decrease = 2;
    } else if (value = after(text, "least="); value != nullptr) {
      burst_settings.least_of = take_share(value);
    } else if (value = after(text, "burst="); value != nullptr) {
      burst_settings.length = take_decimal(value);
      if (burst_settings.length == 0) burst_settings.length = 1;
    }
    while (*text != 0 && *text != ':') ++text;
    if (*text == ':') ++text;
  }
}

}  // namespace plumb::rt

using namespace plumb::rt;

// As plugin/sampled_abi.h has them.
PLUMB_EXPORT int __plumb_burst_begins(int* left, unsigned char* level) {
  const uint32_t count = static_cast<uint32_t>(*left);
  if (count != 0xffffffffu && count >= 0x80000000u) {  // a caller in a burst wants us
    *left = static_cast<int>(count & 0x7fffffffu);
    if (burst.left <= 0) return 0;
    pass_check(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
    return take_one();
  }
  if (!tracking()) {
    *left = kMostLeft;
    return 0;
  }
  const unsigned char now = *level;
  *left = static_cast<int>(distance_after(now));
  if (now < kLevels) *level = static_cast<unsigned char>(now + 1);
  begin_burst();
  pass_check(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  return 1;
}

PLUMB_EXPORT void* __plumb_burst_state() { return &burst; }

PLUMB_EXPORT int __plumb_burst_goes_on() {
  if (burst.left <= 0) return 0;
  pass_check(reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  return take_one();
}

PLUMB_EXPORT __attribute__((preserve_most)) void __plumb_touch(const void* address) {
  if (burst.left > 0 && in_arena(address)) {
    note_access(address, reinterpret_cast<uintptr_t>(__builtin_return_address(0)));
  }
}
