// The annotations of plumb.h for programs that run under `plumb run`.

#include <sys/syscall.h>

#include "common/annotations.h"
#include "common/live_blocks.h"
#include "common/names.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/threads.h"
#include "common/trace_file.h"
#include "common/unwind.h"
#include "common/watcher.h"

namespace plumb::rt {

namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kPatience = 60'000;  // milliseconds for the command to read the trace

}  // namespace

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

bool can_report() {
  return is_us() && tracking() &&
         __atomic_load_n(&trace().header().report_wish, __ATOMIC_ACQUIRE) == PLUMB_REPORT_READY;
}

// The command reads the trace while the world is stopped.
void report_lost() {
  uint32_t* wish = &trace().header().report_wish;
  uint32_t ready = PLUMB_REPORT_READY;
  if (!__atomic_compare_exchange_n(wish, &ready, PLUMB_REPORT_WANTED, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return;
  }
  sys_call(SYS_futex, reinterpret_cast<long>(wish), 1 /* FUTEX_WAKE */, INT32_MAX);
  for (uint64_t i = 0; i < kPatience; ++i) {
    if (__atomic_load_n(wish, __ATOMIC_ACQUIRE) != PLUMB_REPORT_WANTED) return;
    sys_sleep(kMillisecond);
  }
}

}  // namespace plumb::rt
