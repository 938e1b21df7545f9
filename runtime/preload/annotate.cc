// The annotations of plumb.h for programs that run under `plumb run`.

#include "common/annotations.h"
#include "common/live_blocks.h"
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

bool ignore_ordinary(Inside& in, uintptr_t address) { return ignore_block(in, address); }

void keep_flags(const PlumbBlock& block) { keep_block_flags(block); }

// The command writes its report when the program has ended.
void report_lost() {}

}  // namespace plumb::rt
