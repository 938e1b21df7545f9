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

// Code that the optimiser copied (a loop that is unrolled or peeled) allocates at several
// addresses, whose stacks differ in one of their innermost frames. Which of these are the same
// line, the report knows; here it is enough to keep those that differ in one frame.
class NearStacks {
 public:
  NearStacks() : hashes_(static_cast<uint64_t*>(own_pages(kSlots * sizeof(uint64_t)))) {}
  ~NearStacks() {
    if (hashes_ != nullptr) release_own_pages(hashes_, kSlots * sizeof(uint64_t));
  }
  NearStacks(const NearStacks&) = delete;
  NearStacks& operator=(const NearStacks&) = delete;

  void add(uint32_t stack) {
    if (hashes_ == nullptr) return;
    for (unsigned i = 0; i < compared(stack) && used_ < kSlots / 2; ++i) {
      uint64_t& slot = slot_for(hash_without(stack, i));
      if (slot == 0) ++used_;
      slot = hash_without(stack, i);
    }
  }
  bool has(uint32_t stack) const {
    if (hashes_ == nullptr) return false;
    for (unsigned i = 0; i < compared(stack); ++i) {
      if (slot_for(hash_without(stack, i)) != 0) return true;
    }
    return false;
  }

 private:
  static constexpr uint64_t kSlots = uint64_t{1} << 16;
  static constexpr unsigned kInnermost = 8;

  static const PlumbStack& entry(uint32_t stack) {
    return *reinterpret_cast<const PlumbStack*>(trace().stack_words() + stack);
  }
  static unsigned compared(uint32_t stack) {
    return entry(stack).count < kInnermost ? entry(stack).count : kInnermost;
  }
  static uint64_t hash_without(uint32_t stack, unsigned left_out) {
    const uint64_t* addresses = trace().stack_words() + stack + PLUMB_STACK_WORDS;
    uint64_t hash = left_out + 1;
    for (unsigned i = 0; i < entry(stack).count; ++i) {
      hash = (hash ^ (i == left_out ? 0 : addresses[i])) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash | 1;
  }
  // Its own, or the empty one that would be.
  uint64_t& slot_for(uint64_t hash) const {
    uint64_t at = hash >> 48;
    while (hashes_[at] != 0 && hashes_[at] != hash) at = (at + 1) % kSlots;
    return hashes_[at];
  }

  uint64_t* hashes_;
  uint64_t used_ = 0;
};

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
  NearStacks near;
  BlockTable& table = block_table();
  for (uint32_t i = 1; i < table.end(); ++i) {
    const PlumbBlock& block = table.entry(i);
    if (block.state != PLUMB_BLOCK_DIRECT || (block.flags & PLUMB_BLOCK_EXCLUDED) != 0) continue;
    if (block.stack == 0 || block.stack > kPlaceMask) continue;
    if ((lost[block.stack / 8] >> block.stack % 8 & 1) != 0) continue;
    lost[block.stack / 8] = static_cast<uint8_t>(lost[block.stack / 8] | 1u << block.stack % 8);
    near.add(block.stack);
  }
  for (uint32_t i = 0; i < kCommon; ++i) {
    const Common& entry = common[i];
    if (entry.allocation == 0 || entry.stack == 0) continue;
    const bool same = (lost[entry.allocation / 8] >> entry.allocation % 8 & 1) != 0;
    if (!same && !near.has(entry.allocation)) continue;
    const uint64_t index = trace().take(PLUMB_SECTION_FREES, 1);
    if (index == 0) break;
    trace().items<PlumbSiblingFree>(PLUMB_SECTION_FREES)[index] = {entry.allocation, entry.stack,
                                                                   entry.blocks};
  }
  release_own_pages(lost, kBits);
}

}  // namespace plumb::rt
