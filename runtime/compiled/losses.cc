#include "compiled/losses.h"

#include "common/annotations.h"
#include "common/block_index.h"
#include "common/block_table.h"
#include "common/scan.h"
#include "common/trace_file.h"
#include "compiled/arena.h"
#include "compiled/fork.h"
#include "compiled/loss_records.h"
#include "compiled/sibling_frees.h"

namespace plumb::rt {

namespace {

void list_block(void* context, void* block) {
  const Head& head = head_of(block);
  PlumbBlock entry{};
  entry.address = reinterpret_cast<uint64_t>(block);
  entry.size = head.size;
  entry.stack = static_cast<uint32_t>(head.born & kPlaceMask);
  entry.api = static_cast<uint8_t>(head.api);
  if (head.ignored != 0 || head.epoch != process_epoch()) entry.flags |= PLUMB_BLOCK_EXCLUDED;
  if (head.ignored != 0) entry.flags |= PLUMB_BLOCK_IGNORED;
  if (head.told != 0) entry.flags |= PLUMB_BLOCK_TOLD;
  if (!block_table().adopt(entry)) *static_cast<bool*>(context) = false;
}

// The newest word about the block since it was allocated, or 0. `which`: 0 for drops of
// references into it, kUseShadow for accesses.
PLUMB_SHADOW uint64_t newest_word(const PlumbBlock& block, uint64_t which) {
  if (!is_tracked(block.address)) return 0;
  const bool custom = (block.flags & PLUMB_BLOCK_CUSTOM) != 0;
  const uint64_t time = custom ? find_custom(block.address)->born
                               : head_of(reinterpret_cast<void*>(block.address)).born;
  const uint64_t born = time | kPlaceMask;
  uint64_t newest = 0;
  // One past the end counts; what follows a block is a head, to which nobody refers.
  const uint64_t end = block.address + block.size;
  const uint64_t* last = shadow_of(end) + which / sizeof(uint64_t);
  const uint64_t known = block.size < kCleared ? block.size : kCleared;
  const uint64_t cleared = which == 0 ? block.address + known : 0;
  const uint64_t* first = shadow_of(block.address) + which / sizeof(uint64_t);
  for (const uint64_t* word = first; word <= last; ++word) {
    const uint64_t unit = unit_of(word);
    if (unit + 16 <= block.address || unit > end) continue;  // about a neighbour
    if ((*word > born || unit < cleared) && *word > newest) newest = *word;
  }
  return newest;
}

uint64_t newest_drop(const PlumbBlock& block) { return newest_word(block, 0); }

uint32_t place_in(uint64_t word) {
  return static_cast<uint32_t>(word & kPlaceMask & ~(kPlaceStep - 1));
}

bool refers_to_any(const PlumbBlock& block, const uint8_t* marks) {
  const BlockIndex& index = scan_index();
  const auto* words = reinterpret_cast<const uint64_t*>(block.address);
  for (uint64_t i = 0; i < block.size / 8; ++i) {
    if (!in_arena(words[i])) continue;
    const uint32_t target = index.find(words[i]);
    if (target != 0 && marks[target] != 0) return true;
  }
  return false;
}

// The blocks of a leader's cycle are those that it reaches and that reach it.
// Marks grow from the leader against the direction of references, a few rounds in
// either order: enough for rings and doubly linked lists in the order in which
// they were made.
constexpr int kRounds = 16;

struct Members {
  uint32_t* first;  // by leader: its first indirect block
  uint32_t* next;   // by block: the next one of the same leader
};

uint64_t newest_of_cycle(uint32_t leader, const Members& members, uint8_t* marks) {
  BlockTable& table = block_table();
  uint64_t newest = newest_drop(table.entry(leader));
  marks[leader] = 1;
  bool grown = true;
  for (int round = 0; grown && round < kRounds; ++round) {
    grown = false;
    for (uint32_t i = members.first[leader]; i != 0; i = members.next[i]) {
      if (marks[i] != 0 || !refers_to_any(table.entry(i), marks)) continue;
      marks[i] = 1;
      grown = true;
      const uint64_t drop = newest_drop(table.entry(i));
      if (drop > newest) newest = drop;
    }
  }
  return newest;
}

}  // namespace

bool list_blocks() {
  close_arena();
  block_table().forget_adopted();
  forget_custom_entries();
  bool room = true;
  for_each_block(list_block, &room);
  return room;
}

void find_losses() {
  BlockTable& table = block_table();
  const uint32_t end = table.end();
  const size_t bytes = end * sizeof(uint32_t) + kPage;
  Members members{static_cast<uint32_t*>(own_pages(bytes)),
                  static_cast<uint32_t*>(own_pages(bytes))};
  auto* marks = static_cast<uint8_t*>(own_pages(end + kPage));
  if (members.first == nullptr || members.next == nullptr || marks == nullptr) return;
  for (uint32_t i = end; i-- > 1;) {
    const PlumbBlock& block = table.entry(i);
    if (block.state != PLUMB_BLOCK_INDIRECT) continue;
    members.next[i] = members.first[block.leader];
    members.first[block.leader] = i;
  }
  for (uint32_t i = 1; i < end; ++i) {
    const PlumbBlock& block = table.entry(i);
    if (block.state != PLUMB_BLOCK_DIRECT || (block.flags & PLUMB_BLOCK_EXCLUDED) != 0) continue;
    const uint64_t drop = newest_of_cycle(i, members, marks);
    const uint64_t use = newest_word(block, kUseShadow);
    if (drop == 0 && use == 0) continue;
    record_loss(i, place_in(drop), drop == newest_drop(block), place_in(use));
  }
  release_own_pages(members.first, bytes);
  release_own_pages(members.next, bytes);
  release_own_pages(marks, end + kPage);
  record_frees();
}

}  // namespace plumb::rt
