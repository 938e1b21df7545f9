// What of the allocator's memory is no root (common/heap_layout.h): the arena.
// glibc's heap has only what came before us or from signal handlers; nobody
// tracks that, so all of it is a root.

#include "common/heap_layout.h"

#include "compiled/arena.h"

namespace plumb::rt {

bool prepare_heap_layout() { return true; }
void note_sbrk(uintptr_t, intptr_t) {}
uintptr_t main_arena_address() { return 0; }

void allocator_ranges(const OwnVector<Mapping>&, OwnVector<Range>& ranges) {
  ranges.push(arena_range());
  ranges.push({kShadowBegin, kShadowBegin + kShadowSize});
  ranges.push({kShadowBegin + kUseShadow, kShadowBegin + kUseShadow + kShadowSize});
}

}  // namespace plumb::rt
