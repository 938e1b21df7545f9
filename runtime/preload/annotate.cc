// The annotations of plumb.h for programs that run under `plumb run`.

#include "common/annotations.h"
#include "common/block_table.h"
#include "common/granules.h"
#include "common/threads.h"
#include "common/unwind.h"

namespace plumb::rt {

void custom_begins(Inside& in, CustomBlock& block, AnnotationCaller caller) {
  block.stack = current_stack(in, caller.address);
  SlotUse slot(in);
  block.thread = slot->thread;
  slot->counters->allocated_blocks += 1;
  slot->counters->allocated_bytes += block.size;
}

void custom_ends(Inside& in, const CustomBlock& block, AnnotationCaller) {
  SlotUse slot(in);
  slot->counters->freed_blocks += 1;
  slot->counters->freed_bytes += block.size;
}

bool ignore_ordinary(Inside&, uintptr_t address) {
  // Blocks are known by their start only: from inside of one, it is below.
  constexpr unsigned kMostSteps = 1u << 16;
  uintptr_t at = address & ~((uintptr_t{1} << kGranuleBits) - 1);
  for (unsigned step = 0; step < kMostSteps; ++step, at -= uintptr_t{1} << kGranuleBits) {
    const uint32_t index = block_table().find_start(at);
    if (index == 0) continue;
    PlumbBlock& block = block_table().entry(index);
    if (address - block.address > block.size) return false;
    block.flags |= PLUMB_BLOCK_IGNORED | PLUMB_BLOCK_EXCLUDED;
    return true;
  }
  return false;
}

// The table's entries live as long as their blocks.
void keep_flags(const PlumbBlock&) {}

// The command writes its report when the program has ended.
void report_lost() {}

}  // namespace plumb::rt
