// Where blocks come from: thread, stack, size and function, in the trace (PlumbBlockSite),
// with how many were allocated and freed. A block only needs the site's number.
//
// Each thread finds its own: in a table, and before that in a cache that knows a site
// by what can be seen at the call: who called, the size, and the return addresses that
// its stack had, at their places.
//
// Limit: with very many sites, new ones are for blocks of any size.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/inside.h"
#include "common/names.h"
#include "common/stack_memo.h"
#include "trace/record.h"

namespace plumb::rt {

struct ThreadSlot;

inline constexpr unsigned kSiteBits = 24;

bool open_sites();
extern PlumbBlockSite* the_sites;
inline PlumbBlockSite& site_at(uint32_t number) { return the_sites[number]; }
uint32_t site_end();

struct SiteTable {
  uint32_t* numbers;  // open addressing
  uint32_t capacity;
  uint32_t used;

  void clear();
};

struct SiteKey {
  uint64_t size;
  uint32_t stack;
  PlumbApi api;
  bool by_caller;  // see Named
};
// 0: no room.
uint32_t site_for(Inside& in, ThreadSlot& slot, const SiteKey& key);

// One cache line. What is not there of a stack is a return address that is: the caller's.
inline constexpr unsigned kQuickReturns = 3;
struct alignas(64) QuickSite {
  uintptr_t caller;  // and the function, see quick_key; 0: unused
  uint64_t size_and_epoch;
  uint32_t* ordinal;  // of the last block with this name
  uint32_t site;
  uint16_t places[kQuickReturns];  // of the outer return addresses, in words above the frame
  uint16_t reserved;
  uintptr_t returns[kQuickReturns];
};
static_assert(sizeof(QuickSite) == 64);
// Callers of callers differ, at the same depth: a few for each place in the table.
inline constexpr unsigned kQuickWays = 8;
inline constexpr unsigned kQuickSetBits = 10;

inline constexpr size_t kQuickSets = size_t{1} << kQuickSetBits;

// The first ways lie together, so that they spread over the whole cache; the others
// are seldom looked at. Only the pages that are used take memory.
struct QuickSites {
  QuickSite ways[kQuickWays][kQuickSets];
  uint32_t owner;  // see ThreadSlot
};

inline uintptr_t quick_key(uintptr_t caller, PlumbApi api) { return caller | uintptr_t{api} << 56; }
inline uint64_t quick_size(uint64_t size, uint32_t epoch) {
  return size | static_cast<uint64_t>(epoch) << 32;
}

// The first of a few; the others follow at a distance of kQuickSets.
inline QuickSite* quick_sites_for(QuickSites& all, uintptr_t caller, uintptr_t frame,
                                  uint64_t size) {
  const uint64_t hash = (caller + (frame << 3) + (size << 20)) * 0x9e3779b97f4a7c15u;
  return &all.ways[0][hash >> (64 - kQuickSetBits)];
}

// Each return address shows that the next place is one, too: the order matters.
__attribute__((always_inline)) inline bool is_same_site(const QuickSite& site, uintptr_t key,
                                                        uintptr_t frame, uint64_t size) {
  const auto* words = reinterpret_cast<const uintptr_t*>(frame);
  return site.caller == key && site.size_and_epoch == size &&
         words[site.places[0]] == site.returns[0] && words[site.places[1]] == site.returns[1] &&
         words[site.places[2]] == site.returns[2];
}

// They are another thread's now, or mean something else.
void forget_quick_sites(ThreadSlot& slot);
// In a child that goes on with its parent's tables.
void inherit_sites();

}  // namespace plumb::rt
