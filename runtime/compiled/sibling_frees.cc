#include "compiled/sibling_frees.h"

#include "common/block_table.h"
#include "common/memory.h"
#include "common/spin_lock.h"
#include "common/trace_file.h"
#include "compiled/layout.h"
#include "compiled/stacks.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

namespace {

struct Common {
  uint32_t allocation;  // 0: none
  uint32_t stack;
  uint64_t blocks;
};
constexpr uint32_t kCommon = uint32_t{1} << 16;
constexpr unsigned kCommonTries = 64;
Common* common = nullptr;
SpinLock common_lock;

// The lock is held, or nobody else is at work. What finds no room is not counted.
void add_common(uint32_t allocation, uint32_t stack, uint64_t blocks) {
  if (allocation == 0 || blocks == 0) return;
  if (common == nullptr) common = static_cast<Common*>(own_pages(kCommon * sizeof *common));
  if (common == nullptr) return;
  uint32_t slot =
      static_cast<uint32_t>((uint64_t{allocation} << 32 | stack) * 0x9e3779b97f4a7c15u >> 48);
  for (unsigned tries = 0; tries < kCommonTries; ++tries, slot = (slot + 1) % kCommon) {
    Common& entry = common[slot];
    if (entry.allocation == 0) entry = {allocation, stack, 0};
    if (entry.allocation != allocation || entry.stack != stack) continue;
    entry.blocks += blocks;
    return;
  }
}

void hand_over(FreedHere& entry) {
  common_lock.lock();
  add_common(entry.allocation, entry.stack, entry.blocks);
  common_lock.unlock();
  entry = {};
}

}  // namespace

__attribute__((noinline)) void note_new_free(Inside& in, ThreadHeap& heap, uint32_t allocation,
                                             uintptr_t place, Caller caller) {
  const unsigned slot = freed_slot(allocation, place);
  FreedHere* room = nullptr;
  for (unsigned i = 0; i < kFreedTries; ++i) {
    FreedHere& entry = heap.freed[(slot + i) % kFreedHere];
    if (entry.allocation == allocation && entry.place == place) {
      ++entry.blocks;
      return;
    }
    if (entry.allocation == 0 && room == nullptr) room = &entry;
  }
  if (room == nullptr) {
    room = &heap.freed[slot];
    hand_over(*room);
  }
  *room = {allocation, short_stack(in, caller.frame, caller.address), place, 1};
}

void record_frees() {
  for (ThreadHeap* heap = all_thread_heaps(); heap != nullptr; heap = heap->next_of_all) {
    for (FreedHere& entry : heap->freed) {
      add_common(entry.allocation, entry.stack, entry.blocks);
      entry = {};
    }
  }
  if (common == nullptr) return;
  // One bit for each stack.
  constexpr size_t kBits = (kPlaceMask + 1) / 8;
  auto* lost = static_cast<uint8_t*>(own_pages(kBits));
  if (lost == nullptr) return;
  BlockTable& table = block_table();
  for (uint32_t i = 1; i < table.end(); ++i) {
    const PlumbBlock& block = table.entry(i);
    if (block.state != PLUMB_BLOCK_DIRECT || (block.flags & PLUMB_BLOCK_EXCLUDED) != 0) continue;
    if (block.stack <= kPlaceMask) {
      lost[block.stack / 8] = static_cast<uint8_t>(lost[block.stack / 8] | 1u << block.stack % 8);
    }
  }
  for (uint32_t i = 0; i < kCommon; ++i) {
    const Common& entry = common[i];
    if ((lost[entry.allocation / 8] >> entry.allocation % 8 & 1) == 0) continue;
    if (entry.allocation == 0 || entry.stack == 0) continue;
    const uint64_t index = trace().take(PLUMB_SECTION_FREES, 1);
    if (index == 0) break;
    trace().items<PlumbSiblingFree>(PLUMB_SECTION_FREES)[index] = {entry.allocation, entry.stack,
                                                                   entry.blocks};
  }
  release_own_pages(lost, kBits);
}

}  // namespace plumb::rt
