// What a runtime does about the annotations of include/plumb.h; annotations.cc
// is the common part. Roots and blocks that are kept on purpose are known to the
// scan.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/custom_blocks.h"
#include "common/inside.h"
#include "common/memory.h"
#include "common/scan.h"
#include "trace/record.h"

namespace plumb::rt {

// Who called a function of the interface.
struct AnnotationCaller {
  uintptr_t frame;
  uintptr_t address;
};

// --- by each runtime ---

// Fills in stack, thread, name and birth, and counts the block. False: it is not to be tracked.
bool custom_begins(Inside& in, CustomBlock& block, AnnotationCaller caller);
// The same in reverse; what the block held goes.
void custom_ends(Inside& in, const CustomBlock& block, AnnotationCaller caller);
// The ordinary block around this address is kept on purpose. False: there is none.
bool ignore_ordinary(Inside& in, uintptr_t address);
// An ordinary block's flags (PLUMB_BLOCK_TOLD, PLUMB_BLOCK_IGNORED) changed during
// the scan: they are to last.
void keep_flags(const PlumbBlock& block);
// Inside scan_and_go_on: writes a report of what is lost.
// Is anybody there to read it?
bool can_report();
void report_lost();

// --- common ---

inline constexpr unsigned kMaxRoots = 4096;
size_t root_count();
Range root_range(size_t index);
void change_root(uintptr_t begin, size_t size, int change);
void ignore_address(uintptr_t address);
// A block of an allocator of the program's own, or its end.
void announce_block(uintptr_t pool, uintptr_t address, uint64_t size, AnnotationCaller caller);
void retract_block(uintptr_t address, AnnotationCaller caller);

// As code at the end of a question sees it: the world is stopped, verdicts given.
struct LostCount {
  size_t blocks;
  size_t bytes;
};
LostCount count_lost(int then);  // enum plumb_lost_then

// At the scan: entries in the block table for the custom blocks. False: no room.
bool list_custom_blocks();
// The block table was emptied: their entries are gone with it.
void forget_custom_entries();

}  // namespace plumb::rt
