// The watched blocks, and the arena that they live in.
//
// A block gets an address in a range of its own (watch_protocol.h), so that one
// comparison tells a reference from any other word. Small blocks are found by
// granule, large ones by page; the granule past a block's end is the block's,
// too, since a pointer one past the end is a reference.
// Blocks lie far apart when there are few of them: a pointer that is copied
// byte by byte passes through values near the right one, and those should mean
// nothing.
// Of some blocks only the last use is asked for (`kept`): references to them mean nothing
// before the end, and they lie where none of the code that follows references looks.
// Limit: 4 GB of either; what does not fit is left to the program's own malloc.
#pragma once

#include "common/watch_protocol.h"
#include "valgrind/stacks.h"
#include "valgrind/vg.h"

namespace plumb::vg {

using BlockId = UInt;  // 0: none

// As in record.h's PlumbCause.
enum Cause : UChar {
  kUnknownCause = 0,
  kOverwritten = 1,
  kScopeEnd = 2,
  kHolderFreed = 3,
  kUnmapped = 5,
  kThreadEnd = 6,
  kDiscarded = 7,
  kEscapedThrow = 8,
};

enum BlockState : UChar {
  kFreed = 0,
  kHeld = 1,      // memory that holds it refers to it
  kFloating = 2,  // registers may
  kGone = 3,      // nothing outside the arena does
};

inline constexpr UChar kReturned = 1;   // the innermost function had it as its result
inline constexpr UChar kLastRead = 2;   // nothing read it after that place
inline constexpr UChar kThrown = 4;     // an exception left the frame after that
inline constexpr UChar kNotStored = 8;  // it never was in memory

struct Trail;

// When the last reference from outside went, as far as we know.
struct Drop {
  ULong time;
  StackId stack;
  Cause cause;
  UChar flags;        // as in record.h's PLUMB_WATCHED_...
  Addr ip;            // the place when no stack was taken; else 0
  PlumbPlace* place;  // what it was in; null: unknown
};

struct Block {
  Addr address;
  SizeT size;
  UInt generation;  // of the id
  UInt held;        // words that hold it
  UInt outside;     // ... and are outside the arena
  UInt saved;       // registers that a function saved for its caller
  BlockState state;
  UChar verdict;    // at the end; PlumbBlockState
  bool told;        // its loss was
  bool counted;     // ... when the program asked
  bool stored;      // memory once held it
  bool read;        // a register with it was read since `drop`
  UInt float_age;   // pieces of code since it began to float or was read
  bool read_below;  // ... by a function that the owner called
  bool is_part;     // of other memory: see parts.h
  ThreadId thread;  // whose registers may have it, while it floats
  StackId allocation;
  Drop drop;
  Addr owner_sp;          // the outermost frame that has it in registers; 0: none
  Addr tail_sp;           // the same, if that frame ended by a jump into another function
  Addr read_ip;           // last reading instruction there
  UShort read_registers;  // that had it when it was read last
  Trail* trail;           // what the owner's frame ran since; null: not known
  StackId use_stack;
  UInt use_count;
  Addr use_ip;
  Addr use_sp;
  Addr use_top;  // the word there: where a function without a frame returns to
  BlockId leader;
  UInt mark;
  BlockId next_free;
};

// The bits of a word that count as an address (`--pointer-mask`).
extern Addr pointer_mask;
inline Addr plain(Addr word) { return word & pointer_mask; }

void prepare_arena(bool dense);
// 0: no room.
BlockId new_block(SizeT size, SizeT alignment, bool followed);
void free_block(BlockId id);
// For a block that is not in the arena.
BlockId new_id();

// Tables that the functions below look into; both are asked for every word that may
// be a reference.
inline constexpr UInt kBlockChunk = 1u << 14;
extern Block** block_chunks;
extern UInt* block_granules;  // ids by 16 bytes of the arena; null: not prepared
extern UInt* block_pages;     // ids of large blocks by page

inline Block& block(BlockId id) { return block_chunks[id / kBlockChunk][id % kBlockChunk]; }
BlockId block_end();  // one more than the last

// Where the parts are (parts.h); no size: there are none.
extern Addr parts_begin;
extern ULong parts_size;
BlockId find_part(Addr value);
inline bool near_parts(Addr value) { return value - parts_begin < parts_size; }

// Only its last use is asked for.
inline bool is_kept(const Block& it) { return !it.is_part && !watch::is_followed(it.address); }

// False: the word refers to no block.
inline bool may_refer(Addr word) { return watch::in_arena(plain(word)) || near_parts(plain(word)); }

// The block in the arena that the value refers to, 0: none.
inline BlockId find_in_arena(Addr value) {
  if (!watch::in_arena(value) || block_granules == nullptr) return 0;
  const Addr offset = value - watch::kArenaBegin;
  const BlockId id = block_granules[offset / 16] | block_pages[offset / 4096];
  if (id == 0) return 0;
  const Block& found = block(id);
  return value >= found.address && value <= found.address + found.size ? id : 0;
}

// The block that the word refers to, 0: none.
inline BlockId find_block(Addr word) {
  const Addr value = plain(word);
  if (__builtin_expect(near_parts(value), 0)) {
    if (const BlockId part = find_part(value); part != 0) return part;
  }
  return find_in_arena(value);
}
// The same, for references that are followed.
inline BlockId find_followed(Addr word) {
  const Addr value = plain(word);
  return watch::is_followed(value) || near_parts(value) ? find_block(word) : 0;
}

}  // namespace plumb::vg
