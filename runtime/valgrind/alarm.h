// What happens at the moment a block is lost, not at the end (`--on-leak`).
//
// A block that nothing outside refers to any more is only a reason to look: all
// memory is looked through, and what no chain of references reaches is lost. When
// that is enough bytes, the user is told on a descriptor of the command's, and the
// program is stopped if that was asked for.
//
// Limit: a look takes long, so at most a share of the run's time is spent on it. A
// loss that fell between two looks is found by the next one.
#pragma once

#include "valgrind/blocks.h"
#include "valgrind/threads.h"
#include "valgrind/vg.h"

namespace plumb::vg {

enum class OnLeak : UChar { wait, tell, stop, abort, gdb };
extern OnLeak on_leak;
extern SizeT leak_threshold;  // bytes
extern Int tell_file;         // where to write

// Nothing outside refers to the block.
void note_gone(BlockId id);
// Blocks are gone that nobody has looked for yet.
extern bool alarm_wanted;
// Between two pieces of code.
void look_for_losses(const VexGuestAMD64State* state, ThreadId running);

}  // namespace plumb::vg
