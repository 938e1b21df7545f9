// malloc and its family: glibc's own allocator does the work, we write down
// what it did. Sizes are the ones asked for.

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/block_table.h"
#include "common/heap_layout.h"
#include "common/inside.h"
#include "common/memory.h"
#include "common/names.h"
#include "common/process.h"
#include "common/trace_file.h"
#include "common/unwind.h"
#include "common/watcher.h"
#include "preload/export.h"

using namespace plumb::rt;

namespace {

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

// The same for the sizes that most blocks have, without a call. Whole words: the
// block has room for them.
__attribute__((always_inline)) inline void zero_words(void* block, size_t size) {
  typedef long long Pair __attribute__((vector_size(16), aligned(8), may_alias));
  char* at = static_cast<char*>(block);
  char* const end = at + ((size + 7) & ~size_t{7});
  for (; at + 16 <= end; at += 16) {
    *reinterpret_cast<Pair*>(at) = Pair{};
    __asm__ volatile("" : : : "memory");  // or the compiler makes it a call of memset
  }
  if (at != end) *reinterpret_cast<uint64_t*>(at) = 0;
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
  block_table().add(in, block, size, api, stack, name);
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
    void* block = watch_allocate(size, alignment);
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
    block_table().remove(in, block);
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
    if (old != nullptr) block_table().abandon(in, old);
    return __libc_realloc(old, size);
  }
  if (old == nullptr) return allocate_scrubbed(in, size, api, called);
  const Named name = take_name(in, called.caller, size);
  const size_t old_size = watching() ? usable_size(reinterpret_cast<uintptr_t>(old)) : 0;
  const bool holds = watching() && may_hold_watched(old, old_size);
  const uint32_t entry = block_table().detach(in, old);
  if (name.wanted && size != 0) {
    void* block = watch_allocate(size, kUsualAlignment);
    if (block != nullptr) {
      __builtin_memcpy(block, old, old_size < size ? old_size : size);
      if (holds) watch_range_dies(old, old_size);
      if (entry != 0) block_table().drop(in, entry);
      __libc_free(old);
      track(in, block, size, api, called, name);
      watch_arrives(block);
      return block;
    }
  }
  void* block = __libc_realloc(old, size);
  if (entry != 0) {
    if (block == nullptr && size != 0)
      block_table().reattach(in, entry);
    else
      block_table().drop(in, entry);
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

constexpr size_t kSmall = 256;
constexpr size_t kLarge = 1u << 16;  // the rest does not matter for such blocks

// The thread's slot when nothing stands in the way: not inside already, nothing special
// about its allocations. Null: do it carefully.
__attribute__((always_inline)) inline ThreadSlot* ready_slot() {
  ThreadState& state = thread_state;
  return __builtin_expect((state.depth | state.ignoring) != 0, 0) ? nullptr : state.slot;
}

// A name and a stack that were seen before, and an entry for the block. The name is
// null when that is not so; then nothing was done.
struct Seen {
  Name* name;
  uint32_t stack;
};
__attribute__((always_inline)) inline Seen see_again(Inside& in, ThreadSlot& slot, size_t size,
                                                     const Called& called) {
  Name* name = find_name(slot.names, called.caller, size);
  if (__builtin_expect(name == nullptr || name->epoch != module_epoch() ||
                           name->ordinal + 1 == name->next_wanted,
                       0)) {
    return {nullptr, 0};
  }
  uint32_t stack = name->stack;
  if (process().stack_depth > 1) {
    stack = remembered_stack(slot, called);
    if (__builtin_expect(stack == 0, 0)) stack = stack_from(in, called, process().stack_depth);
  }
  return {name, stack};
}

__attribute__((always_inline)) inline void note_again(Inside& in, ThreadSlot& slot, void* block,
                                                      size_t size, PlumbApi api, const Seen& seen) {
  const uint32_t ordinal = ++seen.name->ordinal;
  if (only_watched_matter()) return;
  if (__builtin_expect(!block_table().add_quickly(slot, reinterpret_cast<uintptr_t>(block), size,
                                                  api, seen.stack, ordinal),
                       0)) {
    Named named;
    named.ordinal = ordinal;
    named.stack = seen.stack;
    block_table().add(in, block, size, api, seen.stack, named);
  }
}

// What nearly every malloc and calloc is. Null when it is not; then nothing was done. In
// one piece, since a call costs as much as the work.
template <typename Plain>
__attribute__((always_inline)) inline void* quick_allocate(size_t size, PlumbApi api,
                                                           const Called& called, Plain plain) {
  ThreadSlot* slot = ready_slot();
  if (__builtin_expect(slot == nullptr || size > kLarge, 0)) return nullptr;
  Inside in;
  const Seen seen = see_again(in, *slot, size, called);
  if (__builtin_expect(seen.name == nullptr, 0)) return nullptr;
  void* block = plain();
  if (__builtin_expect(block == nullptr, 0)) return nullptr;
  note_again(in, *slot, block, size, api, seen);
  return block;
}

__attribute__((always_inline)) inline void* quick_malloc(size_t size, const Called& called) {
  return quick_allocate(size, PLUMB_API_MALLOC, called, [size] {
    void* block = __libc_malloc(size);
    if (__builtin_expect(size > kSmall, 0)) return scrubbed(block, 0, size);
    if (process().scrub != 0 && block != nullptr &&
        !chunk_head(reinterpret_cast<uintptr_t>(block)).is_mapped()) {
      zero_words(block, size);
    }
    return block;
  });
}

// Null: nothing was done.
__attribute__((always_inline)) inline void* quick_realloc(void* old, size_t size,
                                                          const Called& called) {
  ThreadSlot* slot = ready_slot();
  if (__builtin_expect(slot == nullptr || old == nullptr || size == 0 || size > kLarge, 0)) {
    return nullptr;
  }
  Inside in;
  const Seen seen = see_again(in, *slot, size, called);
  if (__builtin_expect(seen.name == nullptr, 0)) return nullptr;
  // Out of the table while glibc works, as in track_realloc.
  const uint32_t index = block_table().detach(in, old);
  if (__builtin_expect(index == 0, 0)) return nullptr;
  void* block = __libc_realloc(old, size);
  if (__builtin_expect(block == nullptr, 0)) {
    block_table().reattach(in, index);
    return nullptr;
  }
  block_table().drop(in, index);
  note_again(in, *slot, block, size, PLUMB_API_REALLOC, seen);
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
  ThreadState& state = thread_state;
  ThreadSlot* slot = state.slot;
  if (__builtin_expect(slot == nullptr || state.depth != 0, 0)) return false;
  Inside in;
  if (!block_table().remove_quickly(*slot, reinterpret_cast<uintptr_t>(block))) return false;
  __libc_free(block);
  return true;
}

}  // namespace

PLUMB_EXPORT void* malloc(size_t size) {
  if (tracking()) {
    void* block = quick_malloc(size, PLUMB_CALLED());
    if (__builtin_expect(block != nullptr, 1)) return block;
  }
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
  if (is_watched(block)) {
    free_watched(block);
    return;
  }
  if (tracking()) {
    __builtin_prefetch(static_cast<char*>(block) - sizeof(void*), 1);  // glibc's own head
    if (!watching() && quick_free(block)) return;
    if (only_watched_matter()) {
      forget_watched(block);
      __libc_free(block);
      return;
    }
    Inside in;
    if (in.outermost())
      block_table().remove(in, block);
    else
      block_table().abandon(in, block);
    if (watching()) forget_watched(block);
    __libc_free(block);
    return;
  }
  __libc_free(block);
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
    block_table().mark_usable(in, block);
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
