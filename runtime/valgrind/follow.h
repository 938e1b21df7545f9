// Follows the references to watched blocks: from memory, where each is a slot,
// through registers, to the moment when there is none left.
//
// A block is *held* while words outside the arena refer to it. When the last
// such word goes, the place is noted (Drop) and the block *floats*: registers
// may still have it. As long as any block floats, registers are looked at
// before each piece of code. A register copy that nobody reads again changes
// nothing: the drop was the loss. One that is read makes the function that has
// it the owner, and the loss is where its copy goes: the function's return, or
// its last read. A register that only a callee reads still belongs to the
// caller that passed it on; one that comes back from a function in the register
// for results and is never read was discarded by the caller.
//
// References from one watched block to another do not hold: a cycle floats away
// at the moment when the last reference from outside goes. When every block is
// watched (`inside_holds`) they do, since otherwise the whole heap would float all
// the time; of a cycle only the instruction is known then at which the last word
// outside the heap went. Whether a block that
// floated away is really lost is decided by reachability at the end.
//
// Limits: registers are known at the bounds of pieces of straight code only; a
// reference that is kept in a disguise (xor, compressed) is not one.
#pragma once

#include "valgrind/blocks.h"
#include "valgrind/scopes.h"
#include "valgrind/slots.h"
#include "valgrind/threads.h"
#include "valgrind/vg.h"

namespace plumb::vg {

// Non-zero: registers must be looked at. Read by the instrumented code.
extern ULong floating;
// References from watched blocks hold others.
extern bool inside_holds;

// A fresh block: the allocator is about to return it.
void begin_block(BlockId id, ThreadId thread);
void end_block(BlockId id, ThreadId thread);
// A part of other memory becomes a block (parts.h).
void begin_part(Addr address, SizeT size, ThreadId thread);

// The words that overlap [address, address + size) were written. `saved`: by a
// push of a register that the function must keep; `partial`: not a whole word.
void memory_written(Addr address, SizeT size, bool saved, bool partial);

// All slots there are over.
void range_dies(Addr begin, SizeT size, Cause cause, ThreadId thread);
void range_moves(Addr from, Addr to, SizeT size);

// `marker` is where the return address of the thread's function will be. When
// main returns, the program's own clean-up is still to come.
void thread_begins(ThreadId thread, Addr marker, bool is_main);
void thread_ends(ThreadId thread, Addr thread_pointer);

// Called by the instrumented code.
// At the entry of the function that throws, or jumps, away; and at the entry of
// the one that a handler calls first.
VG_REGPARM(1) void on_unwind(UWord leave);
VG_REGPARM(0) void on_catch();
VG_REGPARM(2) void on_piece(const VexGuestAMD64State* state, const Piece* piece);
VG_REGPARM(2) void on_return(const VexGuestAMD64State* state, const Piece* piece);
// Variables of the running function's frame are out of scope.
VG_REGPARM(1) void on_scope_end(const ScopeExit* exit);
// The program calls free or realloc.
VG_REGPARM(1) void on_free(const VexGuestAMD64State* state);

// The last jump of the program's to a fixed place, written by the instrumented
// code: several `return`s of a function share its end, and the jump says which
// one it was.
struct Jump {
  Addr from;
  Addr to;
};
extern const Jump* last_jump;

}  // namespace plumb::vg
