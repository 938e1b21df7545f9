// The end: which watched blocks are lost.
//
// Roots are all words that the program can read and write, except dead parts of
// stacks and what the library in the program keeps for itself; then registers.
// Memory of the program's own allocator is a root as a whole: freed blocks have
// no references left (they were wiped), and blocks that are lost are watched.
// What no chain of references reaches is lost: a block is *direct* when no other
// lost one refers to it or when it stands for its cycle, and *indirect* with its
// leader otherwise. A cycle was lost when the last reference from outside to any
// of its members went.
#pragma once

#include "common/watch_protocol.h"
#include "valgrind/vg.h"

namespace plumb::vg {

// Gives each block its verdict. Returns how many blocks there are.
UInt give_verdicts(const watch::End& end, ThreadId running);

// The program asks how many are lost, and goes on.
void count_lost(const watch::End& end, ThreadId running, watch::Count& count);

// In the middle: blocks that are reachable have that verdict, those that are lost
// are only PLUMB_BLOCK_LIVE.
void mark_now(const VexGuestAMD64State* state, ThreadId running);
// All words of memory that may refer to a block, those of blocks too; the running thread's
// stack from `sp` on. Returns how many bytes were looked at.
ULong each_reference_now(Addr sp, ThreadId running, void (*use)(Addr at, Addr value));
// The library's own memory: pairs [begin, end), and how many there are.
void note_own_ranges(const Addr* ranges, const Addr* count);

}  // namespace plumb::vg
