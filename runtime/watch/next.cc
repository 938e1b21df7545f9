#include "watch/next.h"

#include <dlfcn.h>

#include "common/libc_malloc.h"
#include "common/own_malloc.h"

namespace plumb::rt {

namespace {

bool looking = false;

template <typename Function>
void look_up(Function& function, const char* name) {
  if (void* found = dlsym(RTLD_NEXT, name); found != nullptr) {
    function = reinterpret_cast<Function>(found);
  }
}

// Two threads may do this at once: they write the same values.
const NextAllocator& found() {
  NextAllocator next = next_allocator;
  // What the loader allocates while it looks for us is freed by itself.
  if (looking) {
    static const NextAllocator libc = {
        __libc_malloc, __libc_calloc,  __libc_realloc, __libc_memalign, nullptr, nullptr,
        __libc_valloc, __libc_pvalloc, __libc_free,    nullptr,         true};
    return libc;
  }
  looking = true;
  look_up(next.malloc, "malloc");
  look_up(next.calloc, "calloc");
  look_up(next.realloc, "realloc");
  look_up(next.memalign, "memalign");
  look_up(next.aligned_alloc, "aligned_alloc");
  look_up(next.posix_memalign, "posix_memalign");
  look_up(next.valloc, "valloc");
  look_up(next.pvalloc, "pvalloc");
  look_up(next.free, "free");
  look_up(next.malloc_usable_size, "malloc_usable_size");
  next.is_glibc = is_libc(reinterpret_cast<void*>(next.malloc));
  next_allocator = next;
  looking = false;
  return next_allocator;
}

// The first call to each finds them all.
void* first_malloc(size_t size) { return found().malloc(size); }
void* first_calloc(size_t count, size_t size) { return found().calloc(count, size); }
void* first_realloc(void* block, size_t size) { return found().realloc(block, size); }
void* first_memalign(size_t alignment, size_t size) { return found().memalign(alignment, size); }
void* first_aligned(size_t alignment, size_t size) {
  return found().aligned_alloc(alignment, size);
}
int first_posix(void** to, size_t alignment, size_t size) {
  return found().posix_memalign(to, alignment, size);
}
void* first_valloc(size_t size) { return found().valloc(size); }
void* first_pvalloc(size_t size) { return found().pvalloc(size); }
void first_free(void* block) { found().free(block); }
size_t first_usable(void* block) { return found().malloc_usable_size(block); }

}  // namespace

constinit NextAllocator next_allocator = {
    first_malloc, first_calloc,  first_realloc, first_memalign, first_aligned, first_posix,
    first_valloc, first_pvalloc, first_free,    first_usable,   false};

const char* next_allocator_module() {
  Dl_info place{};
  const bool known = dladdr(reinterpret_cast<void*>(next_allocator.malloc), &place) != 0;
  return known ? place.dli_fname : nullptr;
}

}  // namespace plumb::rt
