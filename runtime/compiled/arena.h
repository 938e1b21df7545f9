// The allocator of tracked programs: size classes in an address range of our own.
//
// Each class has a region; its slots lie one after the other, a 16-byte head
// before each block. Threads keep unused slots of each class and pass batches
// through a common list. Large blocks have a region together; their pages are
// given back when they are freed.
//
// Invariant: a region is a row of slots from its start to `next`, so all blocks
// can be listed; the state in a slot's head says what it is. Memory that was
// never used is zero.
// Limit: small slots are kept for their class, never given back to the system.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/inside.h"
#include "common/memory.h"
#include "compiled/layout.h"
#include "trace/record.h"

namespace plumb::rt {

inline constexpr size_t kHeadSize = 16;
inline constexpr uint64_t kMaxBlock = uint64_t{1} << 38;

enum SlotState : unsigned {
  kNeverUsed = 0,
  kUnused = 1,
  kLive = 2,
  kAligned = 3,  // the block starts later in the slot: `born` is how much
};

struct Head {
  uint64_t size : 40;  // unused: next unused slot, in granules from the region's start
  uint64_t slot_class : 8;
  uint64_t api : 4;
  uint64_t state : 3;
  uint64_t told : 1;     // the program asked and counted it
  uint64_t aligned : 1;  // the word before the head says how far the slot is back
  uint64_t ignored : 1;  // by annotation
  uint64_t epoch : 6;    // of the process: forks so far, at most 63
  uint64_t born;         // time and stack (layout.h)
};
static_assert(sizeof(Head) == kHeadSize);

// In `slot_class`: a step of the large region, from here on.
inline constexpr unsigned kFirstLarge = 128;

inline Head& head_of(void* block) { return static_cast<Head*>(block)[-1]; }

// Reserves the addresses. `tracked`: where drops are noted.
bool prepare_arena(bool tracked);

// From now on without advice to the kernel, which may be forbidden.
void arena_asks_nothing();

struct Taken {
  void* block = nullptr;
  bool zero = false;   // its bytes are known to be 0
  bool fresh = false;  // nothing was ever there
};
// `head` becomes the block's, with its slot; `born` stays the time of the last free,
// or 0. Null when there is no room.
Taken take_block(Inside& in, Head head, size_t alignment);
// The block's head must be live.
void give_block(Inside& in, void* block);
// What a large block holds becomes that of a larger one, without being copied; the old
// block is then zero. False when that cannot be done, or is not worth it.
bool move_contents(Inside& in, void* from, void* to);
// Could a block of this size use the same slot without much waste?
bool fits_slot(const Head& head, size_t size);

// The live block around this address, or null. Slow.
void* block_around(uintptr_t address);

// Has there been a block at this address of the arena, or right before it? What is far
// beyond is no reference, but a number that looks like one.
bool was_in_use(uint64_t value);

// Where all blocks lie, for the scan.
Range arena_range();

// Calls visit(context, block) for every live block. Nobody else may be at work.
void for_each_block(void (*visit)(void* context, void* block), void* context);

// The calling thread ends: its unused slots go to the common lists.
void give_up_cache(Inside& in);

}  // namespace plumb::rt
