// As the program ends: which of the sampled blocks does nothing refer to any more?
//
// The other threads stand still for it. All words of the roots, and of every block that
// one of them refers to, are looked at; blocks that are not sampled are on the way as
// well (common/heap_walk.h). A sampled block that no word refers to is lost: that is
// exact, however few are sampled.
//
// Limits: what only blocks hold that malloc mapped by themselves, or that lie in a heap
// that could not be walked, counts as held, and so does everything with an allocator other
// than glibc's. No more memory is read than the settings allow: beyond it nothing is said.
#pragma once

#include <stdint.h>

namespace plumb::rt {

// At the start of the program.
void prepare_reach();

// By the thread that ends the program, `stack_pointer` above its live frames. Leaves its
// verdicts with the model, and the other threads as they are: release_world() is next, unless
// nothing comes any more. False: nothing was done.
bool find_lost(uint64_t most_bytes, uintptr_t stack_pointer);

}  // namespace plumb::rt
