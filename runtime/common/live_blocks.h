// The blocks that are alive, while the program runs. There is no table of them: what is
// known of a block is in the granules (granules.h) of its first 32 bytes, which every
// block of glibc's has.
//
//   first   start | odd | usable | slack (5 bits) | site (24 bits)
//   second  0     | ordinal (31 bits)
//
// The site says who allocated it and its size. A site for any size does not: there the
// size is what glibc gave it, less the slack. What else is to be said of a block is with
// the odd ones (odd_blocks.h).
//
// Invariant: outside an Inside, a granule has the start bit exactly when a block of ours
// begins there; allocated minus freed of a site is the number of its blocks.
#pragma once

#include <stdint.h>

#include "common/block_table.h"
#include "common/inside.h"
#include "common/names.h"
#include "common/sites.h"
#include "common/threads.h"
#include "trace/record.h"

namespace plumb::rt {

inline constexpr uint32_t kFactStart = uint32_t{1} << 31;
inline constexpr uint32_t kFactOdd = uint32_t{1} << 30;
inline constexpr uint32_t kFactUsable = uint32_t{1} << 29;
inline constexpr unsigned kFactSlackShift = kSiteBits;
inline constexpr uint32_t kFactSlackMask = 31;  // all bits: it is odd
inline constexpr uint32_t kFactSite = (uint32_t{1} << kSiteBits) - 1;
inline constexpr uint32_t kMostOrdinal = ~kFactStart;

// Both words; 0: not one of ours.
using Facts = uint64_t;
inline Facts facts_of(uint32_t first, uint32_t ordinal) {
  return first | static_cast<uint64_t>(ordinal) << 32;
}
inline Facts load_facts(const uint32_t* granule) {
  Facts facts;
  __builtin_memcpy(&facts, granule, sizeof facts);
  return facts;
}
inline void store_facts(uint32_t* granule, Facts facts) {
  __builtin_memcpy(granule, &facts, sizeof facts);
}

// After this the block is tracked; on failure tracking is given up. Returns its site, 0
// where there is something special about it.
uint32_t add_block(Inside& in, void* address, uint64_t size, PlumbApi api, uint32_t stack,
                   const Named& name);
// The same with a site that is known. False: nothing was done.
bool add_block_quickly(void* address, uint32_t site, uint32_t ordinal);

// A block that is about to be freed. False: not one of ours.
bool remove_block(Inside& in, void* address);
// The same where nothing is in the way. False: nothing was done.
bool remove_block_quickly(uint32_t owner, void* address);

// A block that is about to be reallocated: not yet freed, but nobody's.
Facts detach_block(void* address);
void reattach_block(void* address, Facts facts);  // it stayed where it was
// It is gone; its size was this.
void drop_block(Inside& in, void* address, Facts facts, uint64_t size);
uint64_t block_size(void* address, Facts facts);

// The program was told the usable size and may keep references in it.
void mark_block_usable(Inside& in, void* address);
// The block around this address is kept on purpose. False: there is none.
bool ignore_block(Inside& in, uintptr_t address);
// During the scan: these flags of an entry are to last.
void keep_block_flags(const PlumbBlock& block);

// When the world is stopped: all of them into the block table. False: no room.
bool list_live_blocks();
// And back.
void restore_live_blocks();

// By another thread. False: its bytes are to be counted as well.
bool count_free_elsewhere(PlumbBlockSite& site);

__attribute__((always_inline)) inline bool add_block_quickly(void* address, uint32_t site,
                                                             uint32_t ordinal) {
  uint32_t* granule = block_table().granules().place(reinterpret_cast<uintptr_t>(address));
  if (__builtin_expect(granule == nullptr || load_facts(granule) != 0 || ordinal > kMostOrdinal,
                       0)) {
    return false;
  }
  ++site_at(site).allocated;
  store_facts(granule, facts_of(kFactStart | site, ordinal));
  return true;
}

inline bool is_plain(uint32_t first) { return (first & ~(kFactSite | kFactUsable)) == kFactStart; }

__attribute__((always_inline)) inline bool remove_block_quickly(uint32_t owner, void* address) {
  const auto place = reinterpret_cast<uintptr_t>(address);
  uint32_t* granule = block_table().granules().place(place);
  if (__builtin_expect(granule == nullptr || place % 16 != 0, 0)) return false;
  const uint32_t first = *granule;
  if (__builtin_expect(!is_plain(first), 0)) return false;
  PlumbBlockSite& site = site_at(first & kFactSite);
  if (__builtin_expect(site.owner == owner, 1))
    ++site.freed;
  else if (!count_free_elsewhere(site))
    return false;
  store_facts(granule, 0);
  return true;
}

}  // namespace plumb::rt
