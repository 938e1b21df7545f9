// What the last reference to a block was in, noted so that a reader of debug
// information can say what the source calls it: the word and the frame that has
// it, the registers, or what else in the frames pointed close before the word
// (`person` for the word `person->name`).
//
// Limit: registers in the middle of a piece of code may be a few instructions
// old. The reader checks types and places, so an old one names nothing.
#pragma once

#include "valgrind/blocks.h"
#include "valgrind/stacks.h"
#include "valgrind/vg.h"

namespace plumb::vg {

void note_no_place(Block& it);
// A word of memory. `stack` is the one that was kept for the loss; `freeing`:
// it went with its memory, in a call to free.
void note_word(Block& it, Addr word, const RawStack& stack, ThreadId thread, bool freeing);
// Registers (in Valgrind's order) of the innermost frame.
void note_registers(Block& it, UShort registers);
void forget_place(Block& it);

}  // namespace plumb::vg
