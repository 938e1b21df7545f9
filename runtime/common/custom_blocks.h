// Blocks of allocators of the program's own, as annotations announce them
// (include/plumb.h): parts of blocks of malloc's, of mappings or of arrays.
//
// A table by address under one lock, and a list per pool, so that a pool can go
// as a whole. It is made when the first block is announced: programs without
// annotations pay nothing.
//
// Limit: kMaxCustom blocks at a time; what comes later is not tracked.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/inside.h"

namespace plumb::rt {

inline constexpr uint32_t kMaxCustom = 1u << 22;

struct CustomBlock {
  uintptr_t address;
  uint64_t size;
  uintptr_t pool;  // 0: none
  uint64_t born;   // for the runtime's own use
  uint32_t stack;
  uint32_t thread;
  uint32_t next;  // with the same bucket, or unused
  uint32_t in_pool_next;
  uint32_t in_pool_before;
  uint32_t ordinal;  // of its name (names.h); 0: it has none
  uint8_t used;
  uint8_t ignored;
  uint8_t told;
  uint8_t by_caller;  // its name has no size
};

// False: no room. The address must not be in the table.
bool add_custom(Inside& in, const CustomBlock& block);
// Takes the block at this address out of the table.
bool take_custom(Inside& in, uintptr_t address, CustomBlock& block);
// Takes any block of this pool; false when there is none left.
bool take_custom_of(Inside& in, uintptr_t pool, CustomBlock& block);

// Without the lock: the world is stopped, or nobody else can free the block.
CustomBlock* find_custom(uintptr_t address);
size_t custom_count();
void for_each_custom(void (*visit)(void* context, CustomBlock& block), void* context);

}  // namespace plumb::rt
