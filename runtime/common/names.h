// Names for allocations that a second run of the program can recognise: the
// thread, the place that called, the size, and which one of these it is.
//
// Each thread counts its own, in a table of its own: one look-up per
// allocation, and no unwinding. Names mean the same in every run that takes the
// same way through the program; addresses and other threads' luck do not matter.
//
// Limit: a thread has room for a fixed number of names. When it is used up,
// further ones are counted by caller alone, and after that not at all.
#pragma once

#include <stdint.h>

#include "common/inside.h"

namespace plumb::rt {

struct ThreadSlot;

struct Name {
  uintptr_t caller;  // 0: unused
  uint64_t size;
  uint32_t ordinal;      // of the last allocation, if there is no site yet
  uint32_t next_wanted;  // ordinal that is to be watched; 0: none
  uint32_t stack;        // with the caller only
  uint32_t epoch;
  uint32_t site;       // the first one with this name: it counts the allocations; 0: none yet
  uint32_t next_kept;  // of the one that is wanted: only its last use
};
static_assert(sizeof(Name) == 40);

struct NameTable {
  Name* entries;
  uint32_t capacity;
  uint32_t used;

  void clear();
};

inline uint32_t name_place(const NameTable& table, uintptr_t caller, uint64_t size) {
  const uint64_t hash = (caller ^ (size << 20)) * 0x9e3779b97f4a7c15u;
  return static_cast<uint32_t>(hash >> 32) & (table.capacity - 1);
}

// Null when it is not there yet.
inline Name* find_name(const NameTable& table, uintptr_t caller, uint64_t size) {
  if (__builtin_expect(table.capacity == 0, 0)) return nullptr;
  for (uint32_t at = name_place(table, caller, size);; at = (at + 1) & (table.capacity - 1)) {
    Name& name = table.entries[at];
    if (name.caller == caller && name.size == size) return &name;
    if (name.caller == 0) return nullptr;
  }
}

// An allocation's name, as far as the table of blocks needs it.
struct Named {
  uint64_t ordinal = 0;
  uint32_t stack = 0;  // with the caller only
  bool wanted = false;
  bool kept = false;  // ... for its last use only
  bool by_caller = false;
};

// Counts one more.
Named take_name(Inside& in, uintptr_t caller, uint64_t size);

}  // namespace plumb::rt
