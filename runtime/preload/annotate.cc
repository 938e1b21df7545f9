// The annotations of plumb.h for programs that run under `plumb run`.

#include "common/annotations.h"
#include "common/live_blocks.h"
#include "common/names.h"
#include "common/threads.h"
#include "common/unwind.h"
#include "common/watcher.h"

namespace plumb::rt {

bool custom_begins(Inside& in, CustomBlock& block, AnnotationCaller caller) {
  const Named name = take_name(in, caller.address, block.size);
  if (watching() && !name.wanted) return false;
  block.ordinal = static_cast<uint32_t>(name.ordinal);
  block.by_caller = name.by_caller ? 1 : 0;
  block.stack = watching() ? name.stack : current_stack(in, caller.address);
  SlotUse slot(in);
  block.thread = slot->thread;
  slot->counters->allocated_blocks += 1;
  slot->counters->allocated_bytes += block.size;
  if (watching()) watch_part_begins(block.address, block.size);
  return true;
}

void custom_ends(Inside& in, const CustomBlock& block, AnnotationCaller) {
  if (watching()) watch_part_ends(block.address);
  SlotUse slot(in);
  slot->counters->freed_blocks += 1;
  slot->counters->freed_bytes += block.size;
}

bool ignore_ordinary(Inside& in, uintptr_t address) { return ignore_block(in, address); }

void keep_flags(const PlumbBlock& block) { keep_block_flags(block); }

// The command writes its report when the program has ended.
void report_lost() {}

}  // namespace plumb::rt
