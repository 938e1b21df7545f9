// The annotations of plumb.h in programs built by `plumb cc`.

#include "common/annotations.h"
#include "compiled/arena.h"
#include "compiled/drop.h"
#include "compiled/finish.h"
#include "compiled/losses.h"
#include "compiled/options.h"
#include "compiled/stacks.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

bool custom_begins(Inside& in, CustomBlock& block, AnnotationCaller caller) {
  block.stack = seen_stack(in, caller.frame, caller.address);
  __plumb_clock += kTick;
  block.born = __plumb_clock;
  // What the shadow says is about the memory's former use.
  if (is_tracked(block.address) && block.size != 0) {
    const uint64_t bytes = block.size < kCleared ? block.size : kCleared;
    const uint64_t* last = shadow_of(block.address + bytes - 1);
    for (uint64_t* word = shadow_of(block.address); word <= last; ++word) *word = 0;
  }
  ThreadHeapUse heap(in);
  block.thread = heap->thread;
  heap->counters->allocated_blocks += 1;
  heap->counters->allocated_bytes += block.size;
  return true;
}

void custom_ends(Inside& in, const CustomBlock& block, AnnotationCaller caller) {
  // The words stay: the allocator may have its own in there by now.
  if (options().mode >= Mode::partial) {
    drop_contents(in, reinterpret_cast<void*>(block.address), block.size, nullptr,
                  PLUMB_CAUSE_HOLDER_FREED, false, {caller.frame, caller.address});
  }
  ThreadHeapUse heap(in);
  heap->counters->freed_blocks += 1;
  heap->counters->freed_bytes += block.size;
}

bool ignore_ordinary(Inside&, uintptr_t address) {
  void* block = block_around(address);
  if (block == nullptr) return false;
  head_of(block).ignored = 1;
  return true;
}

void keep_flags(const PlumbBlock& block) {
  Head& head = head_of(reinterpret_cast<void*>(block.address));
  if ((block.flags & PLUMB_BLOCK_TOLD) != 0) head.told = 1;
  if ((block.flags & PLUMB_BLOCK_IGNORED) != 0) head.ignored = 1;
}

bool can_report() { return true; }

void report_lost() {
  find_losses();
  write_report_now();
}

}  // namespace plumb::rt
