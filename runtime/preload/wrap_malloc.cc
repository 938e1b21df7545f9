// malloc and its family: glibc's own allocator does the work, we write down
// what it did. Sizes are the ones asked for.

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/heap_layout.h"
#include "common/inside.h"
#include "common/live_blocks.h"
#include "common/memory.h"
#include "common/names.h"
#include "common/process.h"
#include "common/trace_file.h"
#include "common/unwind.h"
#include "common/watcher.h"
#include "preload/export.h"

using namespace plumb::rt;

namespace {

constexpr size_t kSmall = 256;
constexpr size_t kLarge = 1u << 16;  // the rest does not matter for such blocks

// In the functions that the program calls.
#define PLUMB_CALLED()                                          \
  Called {                                                      \
    reinterpret_cast<uintptr_t>(__builtin_return_address(0)),   \
        reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) \
  }

void* arrived(void* block) {
  __atomic_fetch_add(&process().arrivals, 1, __ATOMIC_RELAXED);
  return block;
}

// Recycled memory is full of stale references, and a program that does not
// fill its block keeps them: they hide leaks. Zeros from `begin` on; a block
// with a mapping of its own is new and has them already.
inline void* scrubbed(void* block, size_t begin, size_t end) {
  if (process().scrub != 0 && block != nullptr && begin < end &&
      !chunk_head(reinterpret_cast<uintptr_t>(block)).is_mapped()) {
    __builtin_memset(static_cast<char*>(block) + begin, 0, end - begin);
  }
  return block;
}

// A block that grew: behind what the program had of it came along what the allocator had
// left there, and the new part is recycled memory. Parts of a word are no reference.
inline void scrub_growth(void* block, uint64_t was, size_t size, bool usable_was_told) {
  if (!usable_was_told) scrubbed(block, (was + 7) & ~uint64_t{7}, size);
}

// The same for the sizes that most blocks have, without a call. Whole words: the block
// has room for them, and for three at least.
__attribute__((always_inline)) inline void zero_words(void* block, size_t size) {
  typedef long long Pair __attribute__((vector_size(16), aligned(8), may_alias));
  char* const begin = static_cast<char*>(block);
  char* const end = begin + (size <= 24 ? 24 : (size + 7) & ~size_t{7});
  // From both ends; the middle is written twice.
  const auto zero = [](char* at) { *reinterpret_cast<Pair*>(at) = Pair{}; };
  zero(begin);
  zero(end - 16);
  if (size <= 32) return;
  zero(begin + 16);
  zero(end - 32);
  if (size <= 64) return;
  for (char* at = begin + 32; at < end - 32; at += 16) {
    zero(at);
    __asm__ volatile("" : : : "memory");  // or the compiler makes it a call of memset
  }
}

// The next allocation that looks like this one is recognised.
void see_quickly(Inside& in, const Called& called, size_t size, PlumbApi api, uint32_t site) {
  ThreadSlot* slot = in.thread().slot;
  const bool by_sizes = process().stack_depth <= 1 || process().quick_stacks != 0;
  const bool all = process().scrub != 0 && !watching();
  if (slot == nullptr || size > kLarge || !by_sizes || !all) return;
  if (slot->quick == nullptr) {
    slot->quick = static_cast<QuickSites*>(own_pages(sizeof(QuickSites)));
    if (slot->quick == nullptr) return;
    forget_quick_sites(*slot);
    in.thread().quick = slot->quick;
  }
  Name* name = find_name(slot->names, called.caller, size);
  if (name == nullptr) return;
  if (name->site == 0) {
    name->site = site;
    site_at(site).ordinal = name->ordinal;
  }
  QuickSite seen{};
  seen.caller = quick_key(called.caller, api);
  seen.size_and_epoch = quick_size(size, module_epoch());
  seen.ordinal = &site_at(name->site).ordinal;
  seen.site = site;
  for (unsigned i = 0; i < kQuickReturns; ++i) {
    seen.places[i] = 1;
    seen.returns[i] = called.caller;
  }
  if (process().stack_depth > 1) {
    if (slot->memos == nullptr) return;
    const StackMemo& memo = memo_for(slot->memos, called.caller, called.frame);
    const bool fits = memo.caller == called.caller && memo.frame == called.frame &&
                      memo.epoch == module_epoch() && memo.stack == site_at(site).stack &&
                      memo.count != 0 && memo.count <= kQuickReturns + 1;
    if (!fits) return;
    for (uint32_t i = 1; i < memo.count; ++i) {
      const auto place = reinterpret_cast<uintptr_t>(memo.returns[i].place);
      const uintptr_t words = (place - called.frame) / sizeof(uintptr_t);
      if (place < called.frame || words > UINT16_MAX) return;
      seen.places[i - 1] = static_cast<uint16_t>(words);
      seen.returns[i - 1] = memo.returns[i].address;
    }
  }
  QuickSite* sites = quick_sites_for(*slot->quick, called.caller, called.frame, size);
  for (unsigned i = kQuickWays - 1; i > 0; --i) {
    sites[i * kQuickSets] = sites[(i - 1) * kQuickSets];
  }
  sites[0] = seen;
}

__attribute__((always_inline)) inline void* track(Inside& in, void* block, size_t size,
                                                  PlumbApi api, const Called& called,
                                                  const Named& name) {
  if (block == nullptr) return block;
  if (only_watched_matter() && !is_watched(block)) return block;
  if (__builtin_expect(!in.outermost(), 0)) {
    if (in.thread().own_work == 0) trace().limit(PLUMB_LIMIT_NESTED);
    return block;
  }
  const uint32_t stack =
      process().stack_depth <= 1 ? name.stack : stack_from(in, called, process().stack_depth);
  const uint32_t site = add_block(in, block, size, api, stack, name);
  if (site != 0) see_quickly(in, called, size, api, site);
  return block;
}

// One allocation: its name first, since the name says whether it is to be
// watched, and then lives where the tool keeps such blocks. `plain` is how it
// is done otherwise.
template <typename Plain>
inline void* allocate(Inside& in, size_t size, size_t alignment, PlumbApi api, const Called& called,
                      Plain plain) {
  Named name;
  if (__builtin_expect(in.outermost(), 1)) name = take_name(in, called.caller, size);
  if (__builtin_expect(name.wanted, 0)) {
    void* block = watch_allocate(size, alignment, name.kept);
    if (block != nullptr) return track(in, block, size, api, called, name);
  }
  return track(in, plain(), size, api, called, name);
}

constexpr size_t kUsualAlignment = 16;

inline void* allocate_scrubbed(Inside& in, size_t size, PlumbApi api, const Called& called) {
  return allocate(in, size, kUsualAlignment, api, called,
                  [size] { return scrubbed(__libc_malloc(size), 0, size); });
}

// A watched block is where only the tool can move it: taken, copied, given
// back. In a child of a fork, too.
void free_watched(void* block) {
  if (tracking()) {
    Inside in;
    remove_block(in, block);
  }
  watch_free(block);
}

void* realloc_watched(void* old, size_t size, PlumbApi api, const Called& called) {
  const size_t old_size = watch_size(old);
  if (size == 0) {  // as glibc does
    free_watched(old);
    return nullptr;
  }
  void* block = nullptr;
  if (tracking()) {
    Inside in;
    block = allocate_scrubbed(in, size, api, called);
  } else {
    block = __libc_malloc(size);
  }
  if (block == nullptr) return nullptr;
  __builtin_memcpy(block, old, old_size < size ? old_size : size);
  free_watched(old);
  if (is_watched(block)) watch_arrives(block);
  return block;
}

// realloc is a free and an allocation; the old block is out of the table while
// glibc works, since another thread may get its place at once.
void* track_realloc(void* old, size_t size, PlumbApi api, const Called& called) {
  if (is_watched(old)) return realloc_watched(old, size, api, called);
  if (!tracking()) return arrived(__libc_realloc(old, size));
  Inside in;
  if (!in.outermost()) {
    if (old != nullptr && remove_block(in, old)) trace().limit(PLUMB_LIMIT_NESTED);
    return __libc_realloc(old, size);
  }
  if (old == nullptr) return allocate_scrubbed(in, size, api, called);
  const Named name = take_name(in, called.caller, size);
  const size_t old_size = watching() ? usable_size(reinterpret_cast<uintptr_t>(old)) : 0;
  const bool holds = watching() && may_hold_watched(old, old_size);
  const Facts facts = detach_block(old);
  if (name.wanted && size != 0) {
    void* block = watch_allocate(size, kUsualAlignment, name.kept);
    if (block != nullptr) {
      __builtin_memcpy(block, old, old_size < size ? old_size : size);
      if (holds) watch_range_dies(old, old_size);
      if (facts != 0) drop_block(in, old, facts, block_size(old, facts));
      __libc_free(old);
      track(in, block, size, api, called, name);
      watch_arrives(block);
      return block;
    }
  }
  const uint64_t was = facts == 0 ? 0 : block_size(old, facts);
  void* block = __libc_realloc(old, size);
  if (facts != 0) {
    scrub_growth(block, was, size, (facts & kFactUsable) != 0);
    if (block == nullptr && size != 0)
      reattach_block(old, facts);
    else
      drop_block(in, old, facts, was);
  }
  // It was copied; what stays behind refers to nothing.
  if (holds && block != old && (block != nullptr || size == 0)) {
    watch_range_dies(old, old_size);
  }
  return track(in, block, size, api, called, name);
}

void* track_aligned(size_t alignment, size_t size, PlumbApi api, const Called& called) {
  if (!tracking()) return arrived(__libc_memalign(alignment, size));
  Inside in;
  return allocate(in, size, alignment, api, called,
                  [=] { return scrubbed(__libc_memalign(alignment, size), 0, size); });
}

__attribute__((noinline)) QuickSite* see_others(QuickSite* first, uintptr_t key, uintptr_t frame,
                                                uint64_t size_and_epoch) {
  for (unsigned i = 1; i < kQuickWays; ++i) {
    QuickSite* site = first + i * kQuickSets;
    if (site->caller == 0) break;  // none were here
    if (is_same_site(*site, key, frame, size_and_epoch)) return site;
  }
  return nullptr;
}

// What nearly every allocation is: one like those before, of which the site is known.
// Null: do it with care.
__attribute__((always_inline)) inline QuickSite* see(size_t size, PlumbApi api,
                                                     const Called& called) {
  QuickSites* all = thread_state.quick;
  if (__builtin_expect(all == nullptr, 0)) return nullptr;
  if (__builtin_expect((thread_state.depth | thread_state.ignoring) != 0, 0)) return nullptr;
  if (__builtin_expect(size > kLarge, 0)) return nullptr;
  QuickSite* site = quick_sites_for(*all, called.caller, called.frame, size);
  const uintptr_t key = quick_key(called.caller, api);
  const uint64_t size_and_epoch = quick_size(size, module_epoch());
  if (__builtin_expect(is_same_site(*site, key, called.frame, size_and_epoch), 1)) return site;
  return see_others(site, key, called.frame, size_and_epoch);
}

__attribute__((noinline, cold)) void note_with_care(void* block, size_t size, PlumbApi api,
                                                    uint32_t site, uint32_t ordinal) {
  Inside in;
  Named named;
  named.ordinal = ordinal;
  add_block(in, block, size, api, site_at(site).stack, named);
}

__attribute__((always_inline)) inline void note_again(void* block, size_t size, PlumbApi api,
                                                      const QuickSite& seen) {
  const uint32_t ordinal = ++*seen.ordinal;
  const uint32_t site = seen.site;
  if (__builtin_expect(!add_block_quickly(block, site, ordinal), 0)) {
    note_with_care(block, size, api, site, ordinal);
  }
}

// Null: nothing was done. In one piece, since a call costs as much as the work.
template <typename Plain>
__attribute__((always_inline)) inline void* quick_allocate(size_t size, PlumbApi api,
                                                           const Called& called, Plain plain) {
  const QuickSite* seen = see(size, api, called);
  if (__builtin_expect(seen == nullptr, 0)) return nullptr;
  QuickInside in;
  // Only now: a thread may be stopped before, and go on when the scan is over.
  if (!tracking()) return nullptr;
  void* block = plain();
  if (__builtin_expect(block != nullptr, 1)) note_again(block, size, api, *seen);
  return block;
}

__attribute__((always_inline)) inline void* quick_malloc(size_t size, PlumbApi api,
                                                         const Called& called) {
  return quick_allocate(size, api, called, [size] {
    void* block = __libc_malloc(size);
    if (__builtin_expect(size > kSmall, 0)) return scrubbed(block, 0, size);
    if (__builtin_expect(block != nullptr, 1)) zero_words(block, size);
    return block;
  });
}

// Null: nothing was done.
__attribute__((always_inline)) inline void* quick_realloc(void* old, size_t size,
                                                          const Called& called) {
  // Many programs have realloc for all they allocate.
  if (old == nullptr) return quick_malloc(size, PLUMB_API_REALLOC, called);
  if (__builtin_expect(size == 0, 0)) return nullptr;
  const QuickSite* seen = see(size, PLUMB_API_REALLOC, called);
  if (__builtin_expect(seen == nullptr, 0)) return nullptr;
  QuickInside in;
  if (!tracking()) return nullptr;
  // Nobody's while glibc works, as in track_realloc.
  const Facts facts = detach_block(old);
  const auto first = static_cast<uint32_t>(facts);
  PlumbBlockSite& site = site_at(first & kFactSite);
  if (__builtin_expect(!is_plain(first) || site.owner == 0, 0)) {
    if (facts != 0) reattach_block(old, facts);
    return nullptr;
  }
  const uint64_t was = block_size(old, facts);
  void* block = __libc_realloc(old, size);
  if (__builtin_expect(block == nullptr, 0)) {
    reattach_block(old, facts);
    return nullptr;
  }
  scrub_growth(block, was, size, (first & kFactUsable) != 0);
  if (site.owner == thread_state.quick->owner)
    ++site.freed;
  else
    count_free_elsewhere(site);
  note_again(block, size, PLUMB_API_REALLOC, *seen);
  return block;
}

__attribute__((noinline)) void* careful_malloc(size_t size, const Called& called) {
  if (!tracking()) return arrived(__libc_malloc(size));
  Inside in;
  return allocate_scrubbed(in, size, PLUMB_API_MALLOC, called);
}

__attribute__((noinline)) void* careful_calloc(size_t count, size_t size, const Called& called) {
  if (!tracking()) return arrived(__libc_calloc(count, size));
  Inside in;
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return __libc_calloc(count, size);
  return allocate(in, bytes, kUsualAlignment, PLUMB_API_CALLOC, called,
                  [=] { return __libc_calloc(count, size); });
}

// The references in it go with it.
void forget_watched(void* block) {
  const size_t size = usable_size(reinterpret_cast<uintptr_t>(block));
  if (may_hold_watched(block, size)) watch_range_dies(block, size);
}

// False: nothing was done.
__attribute__((always_inline)) inline bool quick_free(void* block) {
  const QuickSites* all = thread_state.quick;
  if (__builtin_expect(all == nullptr || thread_state.depth != 0, 0)) return false;
  QuickInside in;
  if (!tracking()) return false;
  if (__builtin_expect(!remove_block_quickly(all->owner, block), 0)) return false;
  __libc_free(block);
  return true;
}

__attribute__((noinline)) void careful_free(void* block) {
  if (is_watched(block)) {
    free_watched(block);
    return;
  }
  if (tracking()) {
    if (only_watched_matter()) {
      forget_watched(block);
      __libc_free(block);
      return;
    }
    Inside in;
    remove_block(in, block);
    if (watching()) forget_watched(block);
    __libc_free(block);
    return;
  }
  __libc_free(block);
}

}  // namespace

PLUMB_EXPORT void* malloc(size_t size) {
  void* block = quick_malloc(size, PLUMB_API_MALLOC, PLUMB_CALLED());
  if (__builtin_expect(block != nullptr, 1)) return block;
  return careful_malloc(size, PLUMB_CALLED());
}

// For start.cc: `malloc` itself may mean the executable's.
extern "C" __attribute__((alias("malloc"), visibility("hidden"))) void* plumb_rt_malloc(size_t);

PLUMB_EXPORT void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  if (tracking() && !__builtin_mul_overflow(count, size, &bytes)) {
    void* block = quick_allocate(bytes, PLUMB_API_CALLOC, PLUMB_CALLED(),
                                 [=] { return __libc_calloc(count, size); });
    if (__builtin_expect(block != nullptr, 1)) return block;
  }
  return careful_calloc(count, size, PLUMB_CALLED());
}

PLUMB_EXPORT void* realloc(void* old, size_t size) {
  if (tracking() && !watching()) {
    void* block = quick_realloc(old, size, PLUMB_CALLED());
    if (__builtin_expect(block != nullptr, 1)) return block;
  }
  return track_realloc(old, size, PLUMB_API_REALLOC, PLUMB_CALLED());
}

PLUMB_EXPORT void* reallocarray(void* old, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return track_realloc(old, bytes, PLUMB_API_REALLOCARRAY, PLUMB_CALLED());
}

PLUMB_EXPORT void free(void* block) {
  if (block == nullptr) return;
  if (quick_free(block)) return;
  careful_free(block);
}

PLUMB_EXPORT void* memalign(size_t alignment, size_t size) {
  return track_aligned(alignment, size, PLUMB_API_MEMALIGN, PLUMB_CALLED());
}

PLUMB_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return track_aligned(alignment, size, PLUMB_API_ALIGNED_ALLOC, PLUMB_CALLED());
}

PLUMB_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  const int saved = errno;
  void* block = track_aligned(alignment, size, PLUMB_API_POSIX_MEMALIGN, PLUMB_CALLED());
  errno = saved;
  if (block == nullptr) return ENOMEM;
  *result = block;
  if (watching()) watch_stored(result);
  return 0;
}

PLUMB_EXPORT void* valloc(size_t size) {
  if (!tracking()) return arrived(__libc_valloc(size));
  Inside in;
  return allocate(in, size, kPage, PLUMB_API_VALLOC, PLUMB_CALLED(),
                  [size] { return scrubbed(__libc_valloc(size), 0, size); });
}

PLUMB_EXPORT void* pvalloc(size_t size) {
  if (!tracking()) return arrived(__libc_pvalloc(size));
  Inside in;
  return allocate(in, size, kPage, PLUMB_API_PVALLOC, PLUMB_CALLED(),
                  [size] { return scrubbed(__libc_pvalloc(size), 0, size); });
}

PLUMB_EXPORT size_t malloc_usable_size(void* block) noexcept {
  if (block == nullptr) return 0;
  if (is_watched(block)) return watch_size(block);
  if (tracking()) {
    Inside in;
    mark_block_usable(in, block);
  }
  return usable_size(reinterpret_cast<uintptr_t>(block));
}

PLUMB_EXPORT int malloc_trim(size_t pad) noexcept {
  Unstoppable hold;
  return real().malloc_trim(pad);
}

// glibc's malloc does not come through here: what does is the program's own.
PLUMB_EXPORT void* sbrk(intptr_t increment) noexcept {
  void* before = __sbrk(increment);
  if (tracking() && before != reinterpret_cast<void*>(-1)) {
    Inside in;
    note_sbrk(reinterpret_cast<uintptr_t>(before), increment);
  }
  return before;
}
