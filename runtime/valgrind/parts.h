// Blocks of allocators of the program's own (include/plumb.h, --alloc-fn): parts of other
// memory, watched where they are.
//
// A part has no address of its own choice, so the range from the first to the last of them
// is what makes a word worth looking at. The code that was translated before there was one
// does not know that: it is translated anew.
// Words that referred to a part before it was announced (the allocator's own, and the
// caller's) are looked for in all memory; after kMostLooked bytes of that only on the stack
// of whoever announced it.
// In a run in which everything is watched, a part lies in another watched block: a reference
// to it is one to that block as well, and what is in it belongs to it alone.
#pragma once

#include "valgrind/blocks.h"
#include "valgrind/vg.h"

namespace plumb::vg {

inline constexpr ULong kMostLooked = ULong{16} << 30;

// A fresh one. 0: another one has some of these bytes.
BlockId add_part(Addr address, SizeT size);
void remove_part(BlockId id);

// The part that begins there; 0: none.
BlockId part_at(Addr address);
// The word is in one, not just behind it.
bool is_in_part(Addr word);

UInt part_count();
BlockId nth_part(UInt number);  // by address
// The first that ends behind this address, as a number.
UInt first_part_behind(Addr address);

}  // namespace plumb::vg
