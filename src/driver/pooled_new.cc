// The command's own `new`: out of a pool where that has it, see base/pool.h. With a
// sanitizer it is the sanitizer's.
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <cstdlib>
#include <new>

#include "base/pool.h"

void* operator new(std::size_t size) {
  if (void* block = plumb::take_pooled(size)) return block;
  while (true) {
    if (void* block = std::malloc(size ? size : 1)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* block) noexcept {
  if (block && !plumb::give_pooled(block)) std::free(block);
}

void operator delete(void* block, std::size_t) noexcept { operator delete(block); }

#endif
