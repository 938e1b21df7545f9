#include "valgrind/blocks.h"

#include "valgrind/vector.h"

// Not in the tools' headers, but a tool may link it.
extern "C" SysRes VG_(am_mmap_anon_fixed_client)(Addr start, SizeT length, UInt prot);

namespace plumb::vg {

Addr pointer_mask = ~Addr{0};
Block** block_chunks = nullptr;
UInt* block_granules = nullptr;
UInt* block_pages = nullptr;

namespace {

constexpr SizeT kGranule = 16;
constexpr SizeT kPageSize = 4096;
constexpr SizeT kArenaSize = watch::kArenaEnd - watch::kArenaBegin;
constexpr SizeT kLargeSize = 32 * 1024;  // by page from here on

constexpr SizeT kStep = 1024 * 1024;  // mapped at once

// Where the blocks of one kind lie.
struct Area {
  Addr first;
  Addr end;
  Addr next = first;
  Addr mapped_end = first & ~(kPageSize - 1);

  SizeT size() const { return end - first; }
};
// Odd starts: small numbers in the lower half are common.
constexpr Addr kFirstOffset = 0x35a5c010;
Area followed_area{watch::kFollowedBegin + kFirstOffset, watch::kArenaEnd};
Area kept_area{watch::kArenaBegin + kFirstOffset, watch::kFollowedBegin};
SizeT gap = 0;

// Blocks stay where they are: references to them are handed around.
Vector<Block*> chunks;
BlockId next_id = 1;

// Freed blocks by size, oldest first; their places and ids are used again.
constexpr UInt kSmallClasses = kLargeSize / kGranule + 2;
constexpr UInt kLargeClasses = 4096;  // pages
struct Queue {
  BlockId head;
  BlockId tail;
};
Queue small_freed[kSmallClasses];
Queue large_freed[kLargeClasses];

SizeT round_up(SizeT size, SizeT to) { return (size + to - 1) & ~(to - 1); }

bool map_to(Area& area, Addr end) {
  if (end > area.end) return false;
  if (end <= area.mapped_end) return true;
  Addr wanted = round_up(end, kStep);
  if (wanted > area.end) wanted = area.end;
  const SysRes result = VG_(am_mmap_anon_fixed_client)(area.mapped_end, wanted - area.mapped_end,
                                                       VKI_PROT_READ | VKI_PROT_WRITE);
  if (sr_isError(result)) return false;
  area.mapped_end = wanted;
  return true;
}

void put_id(const Block& block, BlockId id) {
  const Addr from = block.address - watch::kArenaBegin;
  const Addr to = from + block.size;  // the end itself counts
  if (block.size >= kLargeSize) {
    for (Addr page = from / kPageSize; page <= to / kPageSize; ++page) block_pages[page] = id;
  } else {
    for (Addr at = from / kGranule; at <= to / kGranule; ++at) block_granules[at] = id;
  }
}

BlockId fresh_id() {
  if (next_id % kBlockChunk == 0 || chunks.count == 0) {
    chunks.push(static_cast<Block*>(VG_(calloc)("plumb.blocks", kBlockChunk, sizeof(Block))));
    block_chunks = chunks.items;
  }
  return next_id++;
}

// The runtime keeps what it knows of a block by its first two granules.
SizeT room_for(SizeT size) {
  const SizeT room = round_up(size + 1, size >= kLargeSize ? kPageSize : kGranule);
  return room < 2 * kGranule ? 2 * kGranule : room;
}

// Only in dense mode: otherwise nothing is used again.
Queue* queue_for(SizeT size) {
  if (gap != 0) return nullptr;
  if (size < kLargeSize) return &small_freed[room_for(size) / kGranule];
  const SizeT count = room_for(size) / kPageSize;
  return count < kLargeClasses ? &large_freed[count] : nullptr;
}

BlockId take_freed(SizeT size) {
  Queue* queue = queue_for(size);
  if (queue == nullptr) return 0;
  const BlockId id = queue->head;
  // The youngest stays: addresses are not given out again at once.
  if (id == 0 || block(id).next_free == 0) return 0;
  queue->head = block(id).next_free;
  return id;
}

}  // namespace

void prepare_arena(bool dense) {
  block_granules = static_cast<UInt*>(VG_(am_shadow_alloc)(kArenaSize / kGranule * sizeof(UInt)));
  block_pages = static_cast<UInt*>(VG_(am_shadow_alloc)(kArenaSize / kPageSize * sizeof(UInt)));
  gap = dense ? 0 : 0x13570;
}

BlockId block_end() { return next_id; }

BlockId new_id() {
  const BlockId id = fresh_id();
  VG_(memset)(&block(id), 0, sizeof(Block));
  return id;
}

BlockId new_block(SizeT size, SizeT alignment, bool followed) {
  Area& area = followed ? followed_area : kept_area;
  if (block_granules == nullptr || size >= area.size() / 2) return 0;
  if (alignment < kGranule) alignment = kGranule;
  const bool large = size >= kLargeSize;
  BlockId id = followed && alignment == kGranule ? take_freed(size) : 0;
  Addr place = 0;
  UInt generation = 0;
  if (id != 0) {
    place = block(id).address;
    generation = block(id).generation + 1;
  } else {
    place = round_up(area.next, large && alignment < kPageSize ? kPageSize : alignment);
    const Addr end = place + room_for(size);
    if (!map_to(area, end)) return 0;
    area.next = end;
    // Far apart as long as that does not use up the room.
    if (gap != 0 && followed && area.next - area.first < area.size() / 2) area.next += gap;
    id = fresh_id();
  }
  Block& fresh = block(id);
  VG_(memset)(&fresh, 0, sizeof fresh);
  fresh.address = place;
  fresh.size = size;
  fresh.generation = generation;
  put_id(fresh, id);
  return id;
}

void free_block(BlockId id) {
  Block& old = block(id);
  put_id(old, 0);
  old.state = kFreed;
  old.next_free = 0;
  ++old.generation;  // words that still refer to it mean nothing
  Queue* queue = queue_for(old.size);
  if (queue == nullptr) return;
  if (queue->head == 0) {
    queue->head = id;
  } else {
    block(queue->tail).next_free = id;
  }
  queue->tail = id;
}

}  // namespace plumb::vg
