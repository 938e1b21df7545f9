// malloc and its family for tracked programs.
//
// Blocks come from the arena (arena.h). glibc's own allocator serves what comes
// before we are ready and what a signal handler asks for while we are at work;
// whose a block is, its address says.

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/heap_layout.h"
#include "common/process.h"
#include "common/trace_file.h"
#include "compiled/arena.h"
#include "compiled/cached_slots.h"
#include "compiled/drop.h"
#include "compiled/fork.h"
#include "compiled/options.h"
#include "compiled/sibling_frees.h"
#include "compiled/site_filter.h"
#include "compiled/stacks.h"
#include "compiled/thread_heap.h"
#include "preload/export.h"

using namespace plumb::rt;

namespace {

// The time at which a block begins is later than anything that happened to its
// memory before, whichever thread did it. A reference that outlived the free may
// still have been dropped a little later: hence the distance.
constexpr uint64_t kAfterFree = 64 * kTick;

// What the shadow says about the memory's former use. Beyond kCleared bytes the
// time tells old from new; within them nothing has to, also when the thread that
// drops has not met the one that allocated.
PLUMB_SHADOW void forget_drops(const Head& head) {
  const uint64_t begin = reinterpret_cast<uint64_t>(&head + 1);
  if (!is_tracked(begin)) return;
  const uint64_t bytes = head.size < kCleared ? head.size : kCleared;
  if (bytes == 0) return;
  // What is one past the end may be the next block's.
  uint64_t* last = shadow_of(begin + bytes - 1);
  // A few words: less than a call of memset, which plain stores would become.
  for (uint64_t* word = shadow_of(begin); word <= last; ++word) {
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
  }
}

Head live_head(Inside& in, size_t size, PlumbApi api) {
  Head head{};
  head.size = size;
  head.api = api;
  head.state = kLive;
  head.epoch = process_epoch();
  head.ignored = in.thread().ignoring > 0;
  return head;
}

__attribute__((always_inline)) inline void note_birth(Inside& in, Head& head, uint32_t stack,
                                                      bool fresh) {
  const uint64_t freed = head.born & ~kPlaceMask;
  uint64_t clock = __plumb_clock;
  if (freed != 0 && clock < freed + kAfterFree) clock = freed + kAfterFree;
  clock += kTick;
  __plumb_clock = clock;
  head.born = clock | (stack <= kPlaceMask ? stack : 0);
  // Pages of the shadow that nobody wrote to need not be touched.
  if (!fresh) forget_drops(head);
  ThreadHeapUse heap(in);
  PlumbThread& counters = *heap->counters;
  counters.allocated_blocks += 1;
  counters.allocated_bytes += head.size;
}

void note_death(Inside& in, Head& head) {
  head.born = __plumb_clock;
  ThreadHeapUse heap(in);
  PlumbThread& counters = *heap->counters;
  counters.freed_blocks += 1;
  counters.freed_bytes += head.size;
}

bool is_ours(void* block) { return in_arena(reinterpret_cast<uint64_t>(block)); }

__attribute__((cold)) void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

// A small block, from a thread that has a slot for it and was seen with this stack:
// nearly always. Null: it is not as simple as that.
__attribute__((always_inline)) inline void* allocate_quickly(size_t size, PlumbApi api,
                                                             Caller caller) {
  constexpr size_t kMost = small_slot_size(kFineClasses - 1) - kHeadSize;
  ThreadHeap* heap = thread_heap;
  if (__builtin_expect(!tracking() || heap == nullptr || size > kMost, 0)) return nullptr;
  const auto slot_class = static_cast<unsigned>(size <= 16 ? 0 : (size - 1) / 16);
  Inside in;
  CachedSlots& cached = heap->slots[slot_class];
  if (__builtin_expect(!in.outermost() || cached.count == 0 || in.thread().ignoring > 0, 0)) {
    return nullptr;
  }
  const SeenStack& seen = seen_for(*heap, caller.frame, caller.address);
  if (!is_this_stack(seen, caller.frame, caller.address) || seen.unchosen) return nullptr;
  Head* head = take_cached(cached, slot_class);
  Head made = live_head(in, size, api);
  made.slot_class = slot_class;
  made.born = head->born;
  *head = made;
  note_birth(in, *head, seen.stack, false);
  return head + 1;
}
static_assert((240 - 1) / 16 == small_class_for(240 + kHeadSize));
static_assert((17 - 1) / 16 == small_class_for(17 + kHeadSize));

void* libc_block(size_t size, size_t alignment, bool zero) {
  if (alignment > 16) return __libc_memalign(alignment, size);
  return zero ? __libc_calloc(1, size) : __libc_malloc(size);
}

__attribute__((noinline)) void* allocate(size_t size, size_t alignment, PlumbApi api, bool zero,
                                         Caller caller) {
  if (__builtin_expect(tracking(), 1)) {
    Inside in;
    if (__builtin_expect(in.outermost(), 1)) {
      // First: what it leaves on the stack must not look like the new reference.
      const uint32_t stack = seen_stack(in, caller.frame, caller.address);
      if (!is_chosen_site(in, stack)) return libc_block(size, alignment, zero);
      if (__builtin_expect(size > kMaxBlock || alignment > kMaxBlock, 0)) return no_memory();
      const Taken taken = take_block(in, live_head(in, size, api), alignment);
      if (__builtin_expect(taken.block == nullptr, 0)) return no_memory();
      note_birth(in, head_of(taken.block), stack, taken.fresh);
      if (zero && !taken.zero) __builtin_memset(taken.block, 0, size);
      return taken.block;
    }
    if (in.thread().own_work == 0) trace().limit(PLUMB_LIMIT_NESTED);
  }
  return libc_block(size, alignment, zero);
}

[[noreturn]] void bad_free() {
  constexpr char kText[] = "plumb: free of something that is not a live block\n";
  sys_call(SYS_write, 2, reinterpret_cast<long>(kText), sizeof kText - 1);
  abort();
}

bool holds_no_references(size_t size) {
  return options().mode < Mode::partial ||
         (options().mode == Mode::partial && size > options().partial_limit);
}

struct Announced {
  void* block;
  const PlumbSite* site;
};
thread_local constinit Announced announced __attribute__((tls_model("initial-exec"))) = {};

// drop_frees=: by the number of the free, so that each build of a program keeps the
// same blocks.
__attribute__((noinline, cold)) bool is_dropped() {
  static uint64_t frees = 0;
  const uint64_t number = __atomic_fetch_add(&frees, 1, __ATOMIC_RELAXED);
  uint64_t hash = (number + options().drop_seed * uint64_t{0x100000000}) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  return (hash * 0xbf58476d1ce4e5b9u >> 32) % 100 < options().drop_percent;
}

// With sites=, most holders are glibc's.
__attribute__((noinline, cold)) void drop_in_libc_block(void* block, const PlumbSite* site,
                                                        Caller caller) {
  Inside in;
  if (!in.outermost() || !arena_is_open()) return;
  drop_contents(in, block, usable_size(reinterpret_cast<uintptr_t>(block)), site,
                PLUMB_CAUSE_HOLDER_FREED, true, caller);
}

void release(void* block, const PlumbSite* site, Caller caller) {
  if (block == nullptr) return;
  if (site == nullptr && announced.block == block) {
    site = announced.site;
    announced.block = nullptr;
  }
  if (!is_ours(block)) {
    if (sites_are_chosen) drop_in_libc_block(block, site, caller);
    __libc_free(block);
    return;
  }
  Inside in;
  // In a signal handler that interrupted us, or after the scan: it stays.
  if (!in.outermost() || !arena_is_open()) {
    if (tracking()) trace().limit(PLUMB_LIMIT_NESTED);
    return;
  }
  Head& head = head_of(block);
  if (__builtin_expect(head.state != kLive, 0)) bad_free();
  if (__builtin_expect(options().drop_percent != 0, 0) && is_dropped()) return;
  if (!holds_no_references(head.size)) {
    drop_contents(in, block, head.size, site, PLUMB_CAUSE_HOLDER_FREED, true, caller);
  }
  ThreadHeap* heap = thread_heap;
  const auto stack = static_cast<uint32_t>(head.born & kPlaceMask);
  if (options().mode >= Mode::partial && heap != nullptr && stack != 0) {
    const uintptr_t place = site != nullptr ? reinterpret_cast<uintptr_t>(site) : caller.address;
    note_free(in, *heap, heap->freed, stack, place, caller);
  }
  note_death(in, head);
  if (__builtin_expect(heap == nullptr || head.aligned != 0 || head.slot_class >= kFirstLarge, 0)) {
    give_block(in, block);
    return;
  }
  const auto slot_class = static_cast<unsigned>(head.slot_class);
  CachedSlots& cached = heap->slots[slot_class];
  if (__builtin_expect(keep_cached(cached, &head, slot_class, head.born), 0)) {
    pass_on(cached, slot_class);
  }
}

void* reallocate(void* old, size_t size, PlumbApi api, const PlumbSite* site, Caller caller) {
  if (old == nullptr) return allocate(size, 0, api, false, caller);
  if (!is_ours(old)) {
    if (!tracking()) return __libc_realloc(old, size);
    const size_t before = usable_size(reinterpret_cast<uintptr_t>(old));
    void* block = allocate(size, 0, api, false, caller);
    if (block == nullptr) return nullptr;
    __builtin_memcpy(block, old, before < size ? before : size);
    __libc_free(old);
    return block;
  }
  if (size == 0) {
    release(old, site, caller);
    return nullptr;
  }
  const size_t before = head_of(old).size;
  {
    Inside in;
    if (in.outermost() && arena_is_open()) {
      Head& head = head_of(old);
      if (head.state != kLive) bad_free();
      if (fits_slot(head, size)) {
        if (size < before && !holds_no_references(before)) {
          drop_contents(in, static_cast<char*>(old) + size, before - size, nullptr,
                        PLUMB_CAUSE_HOLDER_FREED, true, caller);
        }
        note_death(in, head);
        head.size = size;
        head.api = api;
        head.epoch = process_epoch();
        head.ignored = in.thread().ignoring > 0;
        note_birth(in, head, seen_stack(in, caller.frame, caller.address), false);
        return old;
      }
    }
  }
  void* block = allocate(size, 0, api, false, caller);
  if (block == nullptr) return nullptr;
  bool moved = false;
  {
    Inside in;
    moved = is_ours(block) && in.outermost() && arena_is_open() && move_contents(in, old, block);
  }
  if (!moved) __builtin_memcpy(block, old, before < size ? before : size);
  {
    // What it held is now in the new block: only what did not fit is dropped.
    Inside in;
    if (in.outermost() && arena_is_open()) {
      if (size < before && !holds_no_references(before)) {
        drop_contents(in, static_cast<char*>(old) + size, before - size, nullptr,
                      PLUMB_CAUSE_HOLDER_FREED, true, caller);
      }
      Head& head = head_of(old);
      if (!moved && !holds_no_references(before)) {
        clear_references(old, before < size ? before : size);
      }
      note_death(in, head);
      give_block(in, old);
    }
  }
  return block;
}

}  // namespace

namespace plumb::rt {

void clear_references(void* begin, size_t size) {
  auto* word = static_cast<uint64_t*>(begin);
  for (size_t i = 0; i < size / 8; ++i) {
    if (is_tracked(word[i])) word[i] = 0;
  }
}

}  // namespace plumb::rt

PLUMB_EXPORT void* malloc(size_t size) {
  if (void* block = allocate_quickly(size, PLUMB_API_MALLOC, {PLUMB_HERE()})) return block;
  return allocate(size, 0, PLUMB_API_MALLOC, false, {PLUMB_HERE()});
}
extern "C" __attribute__((alias("malloc"), visibility("hidden"))) void* plumb_rt_malloc(size_t);

PLUMB_EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return no_memory();
  if (void* block = allocate_quickly(bytes, PLUMB_API_CALLOC, {PLUMB_HERE()})) {
    return __builtin_memset(block, 0, bytes);
  }
  return allocate(bytes, 0, PLUMB_API_CALLOC, true, {PLUMB_HERE()});
}

PLUMB_EXPORT void* realloc(void* old, size_t size) {
  if (old == nullptr) {
    if (void* block = allocate_quickly(size, PLUMB_API_REALLOC, {PLUMB_HERE()})) return block;
  }
  return reallocate(old, size, PLUMB_API_REALLOC, nullptr, {PLUMB_HERE()});
}
PLUMB_EXPORT void* reallocarray(void* old, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return no_memory();
  return reallocate(old, bytes, PLUMB_API_REALLOCARRAY, nullptr, {PLUMB_HERE()});
}

// operator delete is called next with this block: the free inside it belongs to
// this place.
PLUMB_EXPORT void __plumb_freeing(void* block, const PlumbSite* site) { announced = {block, site}; }

PLUMB_EXPORT void free(void* block) { release(block, nullptr, {PLUMB_HERE()}); }

// free, called by code that we compiled: it knows what it frees.
PLUMB_EXPORT void __plumb_free(void* block, const PlumbSite* site) {
  release(block, site, {PLUMB_HERE()});
}

PLUMB_EXPORT void* memalign(size_t alignment, size_t size) {
  return allocate(size, alignment, PLUMB_API_MEMALIGN, false, {PLUMB_HERE()});
}
PLUMB_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return allocate(size, alignment, PLUMB_API_ALIGNED_ALLOC, false, {PLUMB_HERE()});
}
PLUMB_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  const int saved = errno;
  void* block = allocate(size, alignment, PLUMB_API_POSIX_MEMALIGN, false, {PLUMB_HERE()});
  errno = saved;
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}
PLUMB_EXPORT void* valloc(size_t size) {
  return allocate(size, kPage, PLUMB_API_VALLOC, false, {PLUMB_HERE()});
}
PLUMB_EXPORT void* pvalloc(size_t size) {
  return allocate(page_up(size), kPage, PLUMB_API_PVALLOC, false, {PLUMB_HERE()});
}

PLUMB_EXPORT size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  if (is_ours(block)) return head_of(block).size;
  return usable_size(reinterpret_cast<uintptr_t>(block));
}
