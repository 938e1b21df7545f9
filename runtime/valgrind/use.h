// Where each watched block was accessed last.
#pragma once

#include "valgrind/vg.h"

namespace plumb::vg {

// Called by the instrumented code for addresses in the arena.
VG_REGPARM(1) void on_access(Addr address);

}  // namespace plumb::vg
