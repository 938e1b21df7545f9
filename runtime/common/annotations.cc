// The interface behind include/plumb.h.
//
// Questions about what is lost stop the world, scan as at the end, and go on. The
// caller's registers and stack count as they are at the call; the entry points
// are assembly for that reason.

#include "common/annotations.h"

#include "common/block_table.h"
#include "common/frame_marks.h"
#include "common/process.h"
#include "common/scan_entry.h"
#include "common/spin_lock.h"
#include "common/sys.h"
#include "common/trace_file.h"
#include "common/watcher.h"
#include "plumb.h"

namespace plumb::rt {

namespace {

Range roots[kMaxRoots];
size_t root_end = 0;
SpinLock roots_lock;

// Entries of the block table that custom blocks have, by turns.
OwnVector<uint32_t> entries;
size_t entries_used = 0;

bool is_lost(const PlumbBlock& block) {
  if (block.state != PLUMB_BLOCK_DIRECT && block.state != PLUMB_BLOCK_INDIRECT) return false;
  return (block.flags & (PLUMB_BLOCK_EXCLUDED | PLUMB_BLOCK_TOLD)) == 0;
}

void set_flags(PlumbBlock& block, uint8_t flags) {
  block.flags |= flags;
  CustomBlock* custom =
      (block.flags & PLUMB_BLOCK_CUSTOM) != 0 ? find_custom(block.address) : nullptr;
  if (custom == nullptr) {
    keep_flags(block);
    return;
  }
  if ((flags & PLUMB_BLOCK_TOLD) != 0) custom->told = 1;
  if ((flags & PLUMB_BLOCK_IGNORED) != 0) custom->ignored = 1;
}

// False: no room for another one.
bool list_custom(const CustomBlock& custom) {
  if (entries_used == entries.size()) {
    const uint64_t fresh = trace().take(PLUMB_SECTION_BLOCKS, 1);
    if (fresh == 0 || !entries.push(static_cast<uint32_t>(fresh))) return false;
  }
  PlumbBlock& entry = block_table().entry(entries[entries_used++]);
  entry = {};
  entry.address = custom.address;
  entry.size = custom.size;
  entry.stack = custom.stack;
  entry.thread = custom.thread;
  entry.ordinal = custom.ordinal;
  entry.api = PLUMB_API_CUSTOM;
  entry.flags = PLUMB_BLOCK_CUSTOM;
  if (custom.by_caller != 0) entry.flags |= PLUMB_BLOCK_BY_CALLER;
  if (custom.told != 0) entry.flags |= PLUMB_BLOCK_TOLD;
  if (custom.ignored != 0) entry.flags |= PLUMB_BLOCK_IGNORED | PLUMB_BLOCK_EXCLUDED;
  entry.state = PLUMB_BLOCK_LIVE;
  return true;
}

}  // namespace

size_t root_count() { return root_end; }
Range root_range(size_t index) { return roots[index]; }

void change_root(uintptr_t begin, size_t size, int change) {
  roots_lock.lock();
  if (change > 0 && root_end < kMaxRoots) roots[root_end++] = {begin, begin + size};
  for (size_t i = 0; change < 0 && i < root_end; ++i) {
    if (roots[i].begin != begin || roots[i].end != begin + size) continue;
    roots[i] = roots[--root_end];
    break;
  }
  roots_lock.unlock();
}

void ignore_address(uintptr_t address) {
  Inside in;
  if (CustomBlock* custom = find_custom(address); custom != nullptr)
    custom->ignored = 1;
  else
    ignore_ordinary(in, address);
}

LostCount count_lost(int then) {
  LostCount lost{};
  const uint8_t flags = then == PLUMB_LOST_TOLD ? PLUMB_BLOCK_TOLD
                        : then == PLUMB_LOST_IGNORE
                            ? PLUMB_BLOCK_TOLD | PLUMB_BLOCK_IGNORED | PLUMB_BLOCK_EXCLUDED
                            : 0;
  for (uint32_t i = 1; i < block_table().end(); ++i) {
    PlumbBlock& block = block_table().entry(i);
    if (!is_lost(block)) continue;
    ++lost.blocks;
    lost.bytes += block.size;
    if (flags != 0) set_flags(block, flags);
  }
  return lost;
}

void announce_block(uintptr_t pool, uintptr_t address, uint64_t size, AnnotationCaller caller) {
  Inside in;
  if (!tracking() || !in.outermost() || address == 0) return;
  CustomBlock custom{};
  // Announced twice: the allocator forgot to say that it was freed.
  if (take_custom(in, address, custom)) custom_ends(in, custom, caller);
  custom = {};
  custom.address = address;
  custom.size = size;
  custom.pool = pool;
  custom.ignored = in.thread().ignoring != 0;
  if (!custom_begins(in, custom, caller) || add_custom(in, custom)) return;
  custom_ends(in, custom, caller);
  trace().limit(PLUMB_LIMIT_CUSTOM_FULL);
}

void retract_block(uintptr_t address, AnnotationCaller caller) {
  Inside in;
  CustomBlock custom{};
  if (!tracking() || !in.outermost() || !take_custom(in, address, custom)) return;
  custom_ends(in, custom, caller);
}

bool list_custom_blocks() {
  entries_used = 0;
  bool room = true;
  for_each_custom(
      [](void* context, CustomBlock& block) {
        if (!list_custom(block)) *static_cast<bool*>(context) = false;
      },
      &room);
  for (size_t i = entries_used; i < entries.size(); ++i) {
    block_table().entry(entries[i]).state = PLUMB_BLOCK_FREE;
  }
  return room;
}

void forget_custom_entries() { entries.clear(); }

}  // namespace plumb::rt

using namespace plumb::rt;

namespace {

#define PLUMB_ANNOTATION_CALLER()                                \
  AnnotationCaller {                                             \
    reinterpret_cast<uintptr_t>(__builtin_frame_address(0)),     \
        reinterpret_cast<uintptr_t>(__builtin_return_address(0)) \
  }

bool listens(const Inside& in) { return tracking() && in.outermost(); }

__attribute__((noinline)) void on_allocated(const void* pool, const void* block, size_t size) {
  announce_block(reinterpret_cast<uintptr_t>(pool), reinterpret_cast<uintptr_t>(block), size,
                 PLUMB_ANNOTATION_CALLER());
}

__attribute__((noinline)) void on_freed(const void*, const void* block) {
  retract_block(reinterpret_cast<uintptr_t>(block), PLUMB_ANNOTATION_CALLER());
}

void on_pool_created(const void*) {}

__attribute__((noinline)) void on_pool_destroyed(const void* pool) {
  Inside in;
  if (!listens(in)) return;
  CustomBlock custom{};
  while (take_custom_of(in, reinterpret_cast<uintptr_t>(pool), custom)) {
    custom_ends(in, custom, PLUMB_ANNOTATION_CALLER());
  }
}

void on_ignore(const void* block) { ignore_address(reinterpret_cast<uintptr_t>(block)); }

void on_ignoring(int change) { thread_state.ignoring += change; }

void on_root(const void* begin, size_t size, int change) {
  Inside in;
  change_root(reinterpret_cast<uintptr_t>(begin), size, change);
}

struct Question {
  int then;
  plumb_lost answer;
};

extern "C" __attribute__((used, visibility("hidden"))) plumb_lost
plumb_rt_count_lost(int then, SavedEntry* saved) {
  ScanPoint point = point_of(*saved);
  if ((then & PLUMB_LOST_BEFORE_TEST) != 0) mark_frames();
  if ((then & PLUMB_LOST_AFTER_TEST) != 0) {
    if (const uintptr_t since = marked_stack(); since > point.stack_pointer) {
      point.stack_pointer = since;
    }
  }
  if (watching()) {
    const plumb::watch::Count count = watch_count_lost(point, then & 3);
    return {count.blocks, count.bytes};
  }
  Question question{then & 3, {}};
  scan_and_go_on(
      point,
      [](void* context) {
        auto* asked = static_cast<Question*>(context);
        const LostCount lost = count_lost(asked->then);
        asked->answer = {lost.blocks, lost.bytes};
      },
      &question);
  return question.answer;
}

extern "C" __attribute__((used, visibility("hidden"))) void plumb_rt_report_now(int,
                                                                                SavedEntry* saved) {
  if (!can_report()) return;
  scan_and_go_on(point_of(*saved), [](void*) { report_lost(); }, nullptr);
}

__attribute__((naked)) plumb_lost on_lost(int) { PLUMB_SAVED_ENTRY(plumb_rt_count_lost); }
__attribute__((naked)) void on_report() { PLUMB_SAVED_ENTRY(plumb_rt_report_now); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const plumb_interface plumb_interface_1;
const plumb_interface plumb_interface_1 = {sizeof(plumb_interface),
                                           on_allocated,
                                           on_freed,
                                           on_pool_created,
                                           on_pool_destroyed,
                                           on_ignore,
                                           on_ignoring,
                                           on_root,
                                           on_report,
                                           on_lost};
