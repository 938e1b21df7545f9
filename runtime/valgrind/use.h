// Where each watched block was accessed last.
#pragma once

#include "valgrind/blocks.h"
#include "valgrind/vg.h"

namespace plumb::vg {

// The program gave it to a function of the allocator's.
void note_use(BlockId id, ThreadId thread);

// Called by the instrumented code for addresses in the arena.
VG_REGPARM(1) void on_access(Addr address);

}  // namespace plumb::vg
