// malloc and its family. The common path is a subtraction and a comparison
// for an allocation, a comparison for a free; everything else happens for
// sampled blocks only.

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/deep_binding.h"
#include "common/inside.h"
#include "common/process.h"
#include "common/stop_world.h"
#include "common/sys.h"
#include "watch/export.h"
#include "watch/model.h"
#include "watch/next.h"
#include "watch/stacks.h"
#include "watch/watcher.h"

using namespace plumb::rt;

namespace plumb::rt {

Stage stage = Stage::starting;

// Threads are stopped once, when the program ends.
void deliver_postponed(ThreadState& state) {
  if (!must_postpone(state) && state.stop_wanted != 0) stop_if_wanted();
}

}  // namespace plumb::rt

namespace {

#define PLUMB_CALLER() reinterpret_cast<uintptr_t>(__builtin_return_address(0))

// Frames kept of a free: enough to tell who frees.
constexpr unsigned kFreeDepth = 8;
constexpr uint64_t kNever = uint64_t{1} << 62;
// In bursts samples are drawn denser, so that there are some whose accesses are traced:
// a few at first, then one for so many others of the thread.
constexpr uint64_t kDenser = 64;
constexpr uint32_t kOthers = 32;
constexpr uint32_t kFirstOnes = 2;

struct Countdown {
  uint64_t left;    // bytes until the next sample
  uint64_t mean;    // with which it was drawn; 0: not drawn yet
  bool denser;      // in a burst
  bool is_dense;    // the next one was drawn so
  uint32_t credit;  // others that dense ones have not been drawn for
  Random random;
};
thread_local constinit Countdown countdown
    __attribute__((tls_model("initial-exec"))){0, 0, false, false, kFirstOnes* kOthers, {}};

// Most blocks are not sampled, and this is all that they cost.
__attribute__((always_inline)) inline bool passes(size_t size) {
  const uint64_t bytes = size + PLUMB_WATCH_PAD;  // wraps for sizes that fail anyway
  if (__builtin_expect(bytes < countdown.left, 1)) {
    countdown.left -= bytes;
    return true;
  }
  return false;
}

uint64_t fresh_seed() {
  uint64_t seed = 0;
  sys_call(SYS_getrandom, reinterpret_cast<long>(&seed), sizeof seed, 1 /* GRND_NONBLOCK */);
  return seed ^ sys_nanoseconds() ^ reinterpret_cast<uintptr_t>(&countdown);
}

void draw_next() {
  const uint64_t mean = model().mean();
  countdown.is_dense = countdown.denser && countdown.credit >= kOthers && mean > kDenser * 64;
  countdown.mean = countdown.is_dense ? mean / kDenser : mean;
  countdown.left = draw_distance(countdown.random, countdown.mean);
}

void count_sample() {
  if (countdown.is_dense)
    countdown.credit -= kOthers;
  else if (countdown.credit < kFirstOnes * kOthers)
    ++countdown.credit;
}

struct Draw {
  bool hit = false;
  uint64_t mean = 0;
};

// The countdown ran out. Usually that is a sample; not so at a thread's start,
// in a child, or in a signal handler that interrupted us.
Draw draw(Inside& in, size_t size) {
  if (!tracking()) {
    if (stage == Stage::starting) {
      __atomic_fetch_add(&process().arrivals, 1, __ATOMIC_RELAXED);
    } else {
      countdown.left = kNever;
    }
    return {};
  }
  if (!in.outermost()) return {};
  if (countdown.mean == 0) {
    countdown.random.seed(fresh_seed());
    draw_next();
    if (passes(size)) return {};
  }
  const Draw result{true, countdown.mean};
  count_sample();
  draw_next();
  return result;
}

}  // namespace

// The distance to the next sample has no memory: it may be drawn again at any time.
void plumb::rt::sample_denser(bool on) {
  countdown.denser = on;
  if (countdown.mean == 0 || countdown.is_dense == (on && countdown.credit >= kOthers)) return;
  draw_next();
}

plumb::rt::DeepLoad::DeepLoad() { countdown.left = kNever; }
// Drawn anew: the distance has no memory.
plumb::rt::DeepLoad::~DeepLoad() {
  if (stage == Stage::watching) restart_countdown();
}
bool plumb::rt::has_blocks_of_its_own() { return stage == Stage::watching; }

void plumb::rt::restart_countdown() {
  countdown.mean = 0;
  countdown.left = 0;
}

namespace {

struct Wish {
  size_t size;
  size_t alignment;
  PlumbApi api;
  bool zeroed;
  uintptr_t caller;
};

// A block in the arena; null when it is not sampled, or has no place there.
// What malloc itself is to hold, `plain` allocates.
template <typename Plain>
__attribute__((noinline)) void* allocate_slowly(const Wish& wish, Plain plain) {
  Inside in;
  const Draw drawn = draw(in, wish.size);
  if (!drawn.hit) return plain();
  const bool placed = wish.size <= kLargestPlaced && wish.alignment <= kWindow;
  if (!placed && !next_allocator.is_glibc) return plain();
  NewSample sample{wish.size, wish.alignment, drawn.mean, 0, wish.api, wish.zeroed};
  if (placed) {
    sample.stack = own_stack(in, wish.caller);
    void* block = model().place(in, sample);
    return block != nullptr ? block : plain();
  }
  void* block = plain();
  // Found again at its free by the size of its chunk.
  if (block != nullptr && chunk_size(block) > kLargestPlaced) {
    sample.stack = own_stack(in, wish.caller);
    model().note_large(in, block, sample);
  }
  return block;
}

__attribute__((noinline)) void free_sampled(void* block, uintptr_t caller) {
  if (!tracking()) return;  // a child's: the memory is its own, and stays
  Inside in;
  if (!in.outermost()) {
    model().release_later(block);
    return;
  }
  model().release(in, block, own_stack(in, caller, kFreeDepth));
}

__attribute__((noinline)) void forget_large(void* block, uintptr_t caller) {
  if (!tracking()) return;
  Inside in;
  if (in.outermost()) model().release_large(in, block, own_stack(in, caller, kFreeDepth));
}

inline bool may_be_large(void* block) {
  return next_allocator.is_glibc && __builtin_expect(chunk_size(block) > kLargestPlaced, 0);
}

void* resize(void* old, size_t size, PlumbApi api, uintptr_t caller) {
  const Wish wish{size, 16, api, false, caller};
  if (old == nullptr) {
    const auto plain = [=] { return next_allocator.realloc(nullptr, size); };
    return passes(size) ? plain() : allocate_slowly(wish, plain);
  }
  if (!in_arena(old)) {
    if (may_be_large(old)) forget_large(old, caller);
    if (passes(size)) return next_allocator.realloc(old, size);
    void* kept = old;
    void* block = allocate_slowly(wish, [&] {
      kept = nullptr;
      return next_allocator.realloc(old, size);
    });
    if (kept != nullptr && block != nullptr) {
      const size_t before = next_allocator.malloc_usable_size(old);
      __builtin_memcpy(block, old, before < size ? before : size);
      next_allocator.free(old);
    }
    return block;
  }
  if (size == 0) {
    free_sampled(old, caller);
    return nullptr;
  }
  const auto plain = [=] { return next_allocator.malloc(size); };
  void* block = passes(size) ? plain() : allocate_slowly(wish, plain);
  if (block == nullptr) return nullptr;
  const size_t before = model().size_of(old);
  __builtin_memcpy(block, old, before < size ? before : size);
  free_sampled(old, caller);
  return block;
}

bool is_power(size_t number) { return number != 0 && (number & (number - 1)) == 0; }

}  // namespace

PLUMB_EXPORT void* malloc(size_t size) {
  if (passes(size)) return next_allocator.malloc(size);
  return allocate_slowly({size, 16, PLUMB_API_MALLOC, false, PLUMB_CALLER()},
                         [=] { return next_allocator.malloc(size); });
}

// For start.cc: `malloc` itself may mean the executable's.
extern "C" __attribute__((alias("malloc"), visibility("hidden"))) void* plumb_rt_malloc(size_t);

PLUMB_EXPORT void free(void* block) {
  if (block == nullptr) return;
  if (__builtin_expect(in_arena(block), 0)) {
    free_sampled(block, PLUMB_CALLER());
    return;
  }
  if (may_be_large(block)) forget_large(block, PLUMB_CALLER());
  next_allocator.free(block);
}

PLUMB_EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || passes(bytes)) {
    return next_allocator.calloc(count, size);
  }
  return allocate_slowly({bytes, 16, PLUMB_API_CALLOC, true, PLUMB_CALLER()},
                         [=] { return next_allocator.calloc(count, size); });
}

PLUMB_EXPORT void* realloc(void* old, size_t size) {
  return resize(old, size, PLUMB_API_REALLOC, PLUMB_CALLER());
}

PLUMB_EXPORT void* reallocarray(void* old, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return resize(old, bytes, PLUMB_API_REALLOCARRAY, PLUMB_CALLER());
}

PLUMB_EXPORT void* memalign(size_t alignment, size_t size) {
  const auto plain = [=] { return next_allocator.memalign(alignment, size); };
  if (!is_power(alignment) || passes(size)) return plain();
  return allocate_slowly({size, alignment, PLUMB_API_MEMALIGN, false, PLUMB_CALLER()}, plain);
}

PLUMB_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  const auto plain = [=] { return next_allocator.aligned_alloc(alignment, size); };
  if (!is_power(alignment) || passes(size)) return plain();
  return allocate_slowly({size, alignment, PLUMB_API_ALIGNED_ALLOC, false, PLUMB_CALLER()}, plain);
}

PLUMB_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  if (!is_power(alignment) || alignment % sizeof(void*) != 0 || passes(size)) {
    return next_allocator.posix_memalign(result, alignment, size);
  }
  int status = 0;
  void* block = allocate_slowly({size, alignment, PLUMB_API_POSIX_MEMALIGN, false, PLUMB_CALLER()},
                                [&]() -> void* {
                                  void* plain = nullptr;
                                  status = next_allocator.posix_memalign(&plain, alignment, size);
                                  return status == 0 ? plain : nullptr;
                                });
  if (status == 0) *result = block;
  return status;
}

PLUMB_EXPORT void* valloc(size_t size) {
  const auto plain = [=] { return next_allocator.valloc(size); };
  if (passes(size)) return plain();
  return allocate_slowly({size, kPage, PLUMB_API_VALLOC, false, PLUMB_CALLER()}, plain);
}

PLUMB_EXPORT void* pvalloc(size_t size) {
  const auto plain = [=] { return next_allocator.pvalloc(size); };
  if (size > kLargestPlaced || passes(size)) return plain();
  return allocate_slowly({page_up(size), kPage, PLUMB_API_PVALLOC, false, PLUMB_CALLER()}, plain);
}

PLUMB_EXPORT size_t malloc_usable_size(void* block) noexcept {
  if (in_arena(block)) return model().size_of(block);
  return next_allocator.malloc_usable_size(block);
}
