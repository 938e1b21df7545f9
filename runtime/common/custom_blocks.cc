#include "common/custom_blocks.h"

#include "common/memory.h"
#include "common/spin_lock.h"

namespace plumb::rt {

namespace {

constexpr uint32_t kBuckets = 1u << 20;
constexpr uint32_t kPoolBuckets = 1u << 14;
constexpr uint32_t kMaxPools = 1u << 18;

struct Pool {
  uintptr_t address;
  uint32_t first;  // of its blocks
  uint32_t next;   // with the same bucket, or unused
};

CustomBlock* blocks = nullptr;  // index 0 is "none", in all lists
uint32_t* buckets = nullptr;
Pool* pools = nullptr;
uint32_t* pool_buckets = nullptr;
uint32_t block_end = 1;
uint32_t unused_block = 0;
uint32_t pool_end = 1;
uint32_t unused_pool = 0;
size_t count = 0;
bool no_room = false;
SpinLock lock;

uint32_t bucket_of(uintptr_t address, uint32_t bucket_count) {
  return static_cast<uint32_t>((address >> 3) * 0x9e3779b97f4a7c15u >> 32) & (bucket_count - 1);
}

bool prepare() {
  if (blocks != nullptr || no_room) return blocks != nullptr;
  auto* room = static_cast<CustomBlock*>(own_pages(kMaxCustom * sizeof *blocks));
  buckets = static_cast<uint32_t*>(own_pages(kBuckets * sizeof *buckets));
  pools = static_cast<Pool*>(own_pages(kMaxPools * sizeof *pools));
  pool_buckets = static_cast<uint32_t*>(own_pages(kPoolBuckets * sizeof *pool_buckets));
  no_room = room == nullptr || buckets == nullptr || pools == nullptr || pool_buckets == nullptr;
  if (!no_room) __atomic_store_n(&blocks, room, __ATOMIC_RELEASE);
  return !no_room;
}

uint32_t* link_to_pool(uintptr_t address) {
  uint32_t* link = &pool_buckets[bucket_of(address, kPoolBuckets)];
  while (*link != 0 && pools[*link].address != address) link = &pools[*link].next;
  return link;
}

uint32_t pool_for(uintptr_t address) {
  uint32_t* link = link_to_pool(address);
  if (*link != 0) return *link;
  uint32_t index = unused_pool;
  if (index != 0)
    unused_pool = pools[index].next;
  else if (pool_end < kMaxPools)
    index = pool_end++;
  else
    return 0;
  pools[index] = {address, 0, 0};
  *link = index;
  return index;
}

void enter_pool(uint32_t index) {
  const uint32_t pool = blocks[index].pool == 0 ? 0 : pool_for(blocks[index].pool);
  if (pool == 0) return;
  const uint32_t first = pools[pool].first;
  blocks[index].in_pool_next = first;
  if (first != 0) blocks[first].in_pool_before = index;
  pools[pool].first = index;
}

void leave_pool(uint32_t index) {
  const CustomBlock& block = blocks[index];
  if (block.pool == 0) return;
  if (block.in_pool_next != 0) blocks[block.in_pool_next].in_pool_before = block.in_pool_before;
  if (block.in_pool_before != 0) {
    blocks[block.in_pool_before].in_pool_next = block.in_pool_next;
    return;
  }
  uint32_t* link = link_to_pool(block.pool);
  const uint32_t pool = *link;
  if (pool == 0 || pools[pool].first != index) return;
  pools[pool].first = block.in_pool_next;
  if (block.in_pool_next != 0) return;
  *link = pools[pool].next;
  pools[pool].next = unused_pool;
  unused_pool = pool;
}

uint32_t* link_to(uintptr_t address) {
  uint32_t* link = &buckets[bucket_of(address, kBuckets)];
  while (*link != 0 && blocks[*link].address != address) link = &blocks[*link].next;
  return link;
}

bool take(uintptr_t address, CustomBlock& block) {
  uint32_t* link = link_to(address);
  const uint32_t index = *link;
  if (index == 0) return false;
  leave_pool(index);
  block = blocks[index];
  *link = block.next;
  blocks[index] = {};
  blocks[index].next = unused_block;
  unused_block = index;
  --count;
  return true;
}

}  // namespace

bool add_custom(Inside&, const CustomBlock& block) {
  const Locked locked(lock);
  if (!prepare()) return false;
  uint32_t index = unused_block;
  if (index != 0)
    unused_block = blocks[index].next;
  else if (block_end < kMaxCustom)
    index = block_end++;
  else
    return false;
  uint32_t& bucket = buckets[bucket_of(block.address, kBuckets)];
  blocks[index] = block;
  blocks[index].used = 1;
  blocks[index].in_pool_next = blocks[index].in_pool_before = 0;
  blocks[index].next = bucket;
  bucket = index;
  enter_pool(index);
  ++count;
  return true;
}

bool take_custom(Inside&, uintptr_t address, CustomBlock& block) {
  if (__atomic_load_n(&blocks, __ATOMIC_ACQUIRE) == nullptr) return false;
  const Locked locked(lock);
  return take(address, block);
}

bool take_custom_of(Inside&, uintptr_t pool, CustomBlock& block) {
  if (__atomic_load_n(&blocks, __ATOMIC_ACQUIRE) == nullptr) return false;
  const Locked locked(lock);
  const uint32_t known = *link_to_pool(pool);
  if (known == 0 || pools[known].first == 0) return false;
  return take(blocks[pools[known].first].address, block);
}

CustomBlock* find_custom(uintptr_t address) {
  if (blocks == nullptr) return nullptr;
  const uint32_t index = *link_to(address);
  return index == 0 ? nullptr : &blocks[index];
}

size_t custom_count() { return count; }

void for_each_custom(void (*visit)(void*, CustomBlock&), void* context) {
  for (uint32_t index = 1; blocks != nullptr && index < block_end; ++index) {
    if (blocks[index].used != 0) visit(context, blocks[index]);
  }
}

}  // namespace plumb::rt
