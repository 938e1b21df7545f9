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

#define PLUMB_CALLER() reinterpret_cast<uintptr_t>(__builtin_return_address(0))

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

inline void* track(Inside& in, void* block, size_t size, PlumbApi api, uintptr_t caller,
                   const Named& name) {
  if (block == nullptr) return block;
  if (__builtin_expect(!in.outermost(), 0)) {
    if (in.thread().own_work == 0) trace().limit(PLUMB_LIMIT_NESTED);
    return block;
  }
  const uint32_t stack = process().stack_depth <= 1 ? name.stack : current_stack(in, caller);
  block_table().add(in, block, size, api, stack, name);
  return block;
}

// One allocation: its name first, since the name says whether it is to be
// watched, and then lives where the tool keeps such blocks. `plain` is how it
// is done otherwise.
template <typename Plain>
inline void* allocate(Inside& in, size_t size, size_t alignment, PlumbApi api, uintptr_t caller,
                      Plain plain) {
  Named name;
  if (__builtin_expect(in.outermost(), 1)) name = take_name(in, caller, size);
  if (__builtin_expect(name.wanted, 0)) {
    void* block = watch_allocate(size, alignment);
    if (block != nullptr) return track(in, block, size, api, caller, name);
  }
  return track(in, plain(), size, api, caller, name);
}

constexpr size_t kUsualAlignment = 16;

inline void* allocate_scrubbed(Inside& in, size_t size, PlumbApi api, uintptr_t caller) {
  return allocate(in, size, kUsualAlignment, api, caller,
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

void* realloc_watched(void* old, size_t size, PlumbApi api, uintptr_t caller) {
  const size_t old_size = watch_size(old);
  if (size == 0) {  // as glibc does
    free_watched(old);
    return nullptr;
  }
  void* block = nullptr;
  if (tracking()) {
    Inside in;
    block = allocate_scrubbed(in, size, api, caller);
  } else {
    block = __libc_malloc(size);
  }
  if (block == nullptr) return nullptr;
  __builtin_memcpy(block, old, old_size < size ? old_size : size);
  free_watched(old);
  return block;
}

// realloc is a free and an allocation; the old block is out of the table while
// glibc works, since another thread may get its place at once.
void* track_realloc(void* old, size_t size, PlumbApi api, uintptr_t caller) {
  if (is_watched(old)) return realloc_watched(old, size, api, caller);
  if (!tracking()) return arrived(__libc_realloc(old, size));
  Inside in;
  if (!in.outermost()) {
    if (old != nullptr) block_table().abandon(in, old);
    return __libc_realloc(old, size);
  }
  if (old == nullptr) return allocate_scrubbed(in, size, api, caller);
  const Named name = take_name(in, caller, size);
  const size_t old_size = watching() ? usable_size(reinterpret_cast<uintptr_t>(old)) : 0;
  const uint32_t entry = block_table().detach(in, old);
  if (name.wanted && size != 0) {
    void* block = watch_allocate(size, kUsualAlignment);
    if (block != nullptr) {
      __builtin_memcpy(block, old, old_size < size ? old_size : size);
      watch_range_dies(old, old_size);
      if (entry != 0) block_table().drop(in, entry);
      __libc_free(old);
      return track(in, block, size, api, caller, name);
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
  if (watching() && block != old && (block != nullptr || size == 0)) {
    watch_range_dies(old, old_size);
  }
  return track(in, block, size, api, caller, name);
}

void* track_aligned(size_t alignment, size_t size, PlumbApi api, uintptr_t caller) {
  if (!tracking()) return arrived(__libc_memalign(alignment, size));
  Inside in;
  return allocate(in, size, alignment, api, caller,
                  [=] { return scrubbed(__libc_memalign(alignment, size), 0, size); });
}

}  // namespace

PLUMB_EXPORT void* malloc(size_t size) {
  if (!tracking()) return arrived(__libc_malloc(size));
  Inside in;
  return allocate_scrubbed(in, size, PLUMB_API_MALLOC, PLUMB_CALLER());
}

// For start.cc: `malloc` itself may mean the executable's.
extern "C" __attribute__((alias("malloc"), visibility("hidden"))) void* plumb_rt_malloc(size_t);

PLUMB_EXPORT void* calloc(size_t count, size_t size) {
  if (!tracking()) return arrived(__libc_calloc(count, size));
  Inside in;
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return __libc_calloc(count, size);
  return allocate(in, bytes, kUsualAlignment, PLUMB_API_CALLOC, PLUMB_CALLER(),
                  [=] { return __libc_calloc(count, size); });
}

PLUMB_EXPORT void* realloc(void* old, size_t size) {
  return track_realloc(old, size, PLUMB_API_REALLOC, PLUMB_CALLER());
}

PLUMB_EXPORT void* reallocarray(void* old, size_t count, size_t size) noexcept {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return track_realloc(old, bytes, PLUMB_API_REALLOCARRAY, PLUMB_CALLER());
}

PLUMB_EXPORT void free(void* block) {
  if (block == nullptr) return;
  if (is_watched(block)) {
    free_watched(block);
    return;
  }
  if (tracking()) {
    Inside in;
    if (in.outermost())
      block_table().remove(in, block);
    else
      block_table().abandon(in, block);
    if (watching()) watch_range_dies(block, usable_size(reinterpret_cast<uintptr_t>(block)));
    __libc_free(block);
    return;
  }
  __libc_free(block);
}

PLUMB_EXPORT void* memalign(size_t alignment, size_t size) {
  return track_aligned(alignment, size, PLUMB_API_MEMALIGN, PLUMB_CALLER());
}

PLUMB_EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  return track_aligned(alignment, size, PLUMB_API_ALIGNED_ALLOC, PLUMB_CALLER());
}

PLUMB_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    return EINVAL;
  }
  const int saved = errno;
  void* block = track_aligned(alignment, size, PLUMB_API_POSIX_MEMALIGN, PLUMB_CALLER());
  errno = saved;
  if (block == nullptr) return ENOMEM;
  *result = block;
  if (watching()) watch_stored(result);
  return 0;
}

PLUMB_EXPORT void* valloc(size_t size) {
  if (!tracking()) return arrived(__libc_valloc(size));
  Inside in;
  return allocate(in, size, kPage, PLUMB_API_VALLOC, PLUMB_CALLER(),
                  [size] { return scrubbed(__libc_valloc(size), 0, size); });
}

PLUMB_EXPORT void* pvalloc(size_t size) {
  if (!tracking()) return arrived(__libc_pvalloc(size));
  Inside in;
  return allocate(in, size, kPage, PLUMB_API_PVALLOC, PLUMB_CALLER(),
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
