#include "common/live_blocks.h"

#include "common/annotations.h"
#include "common/freed_chunks.h"
#include "common/heap_layout.h"
#include "common/memory.h"
#include "common/odd_blocks.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/trace_file.h"
#include "common/watcher.h"

namespace plumb::rt {

namespace {

uint32_t* granule_of(uintptr_t address) {
  return address % 16 != 0 ? nullptr : block_table().granules().place(address);
}

// Freed behind our back (a library that does not go through us), and now used again.
void forget_stale(Inside& in, uintptr_t address) {
  for (uintptr_t place = address - 16; place <= address + 16; place += 16) {
    const uint32_t* granule = granule_of(place);
    if (granule == nullptr || (*granule & kFactStart) == 0) continue;
    remove_block(in, reinterpret_cast<void*>(place));
  }
  if (uint32_t* granule = granule_of(address); granule != nullptr) store_facts(granule, 0);
}

uint64_t size_of(uintptr_t address, uint32_t first, const PlumbBlockSite& site) {
  if ((site.flags & PLUMB_SITE_ANY_SIZE) == 0) return site.size;
  const uint32_t slack = first >> kFactSlackShift & kFactSlackMask;
  if (slack == kFactSlackMask) return find_odd(address).size;
  const uint64_t usable = usable_size(address);
  return usable > slack ? usable - slack : 0;
}

// The bits that say how large it is, where the site does not.
uint32_t slack_bits(uintptr_t address, uint64_t size, bool& odd) {
  const bool by_tool = is_watched(reinterpret_cast<void*>(address));
  const uint64_t slack = by_tool ? kFactSlackMask : usable_size(address) - size;
  if (slack < kFactSlackMask) return static_cast<uint32_t>(slack) << kFactSlackShift;
  odd = true;
  return kFactSlackMask << kFactSlackShift;
}

}  // namespace

__attribute__((noinline, cold)) uint32_t add_block(Inside& in, void* block, uint64_t size,
                                                   PlumbApi api, uint32_t stack,
                                                   const Named& name) {
  const auto address = reinterpret_cast<uintptr_t>(block);
  if (!block_table().granules().make_room(address)) {
    give_up(PLUMB_PROBLEM_OUT_OF_MEMORY, "no memory for the table of addresses");
    return 0;
  }
  uint32_t* granule = granule_of(address);
  if (__builtin_expect(load_facts(granule) != 0, 0)) forget_stale(in, address);

  SlotUse slot(in);
  const uint32_t number = site_for(
      in, *slot, {name.by_caller ? PLUMB_WANT_ANY_SIZE : size, stack, api, name.by_caller});
  if (__builtin_expect(number == 0, 0)) {
    give_up(PLUMB_PROBLEM_TABLE_FULL, "there is no room for more sites");
    return 0;
  }
  PlumbBlockSite& site = site_at(number);
  uint32_t first = kFactStart | number;
  bool odd = false;
  ++site.allocated;
  if ((site.flags & PLUMB_SITE_ANY_SIZE) != 0) {
    first |= slack_bits(address, size, odd);
    __atomic_fetch_add(&site.size, size, __ATOMIC_RELAXED);
    slot->counters->allocated_bytes += size;
  }
  const bool ignored = in.thread().ignoring > 0;
  if (odd || ignored) {
    const uint8_t flags = ignored ? PLUMB_BLOCK_IGNORED | PLUMB_BLOCK_EXCLUDED : 0;
    if (note_odd(address, flags, odd ? size : 0)) first |= kFactOdd;
  }
  const uint64_t ordinal = name.ordinal > kMostOrdinal ? 0 : name.ordinal;
  store_facts(granule, facts_of(first, static_cast<uint32_t>(ordinal)));
  return (site.flags & PLUMB_SITE_ANY_SIZE) != 0 ? 0 : number;
}

bool count_free_elsewhere(PlumbBlockSite& site) {
  if (site.owner == 0) return false;
  __atomic_fetch_add(&site.freed_elsewhere, 1, __ATOMIC_RELAXED);
  return true;
}

bool remove_block(Inside& in, void* address) {
  const Facts facts = detach_block(address);
  if (facts == 0) return false;
  drop_block(in, address, facts, block_size(address, facts));
  return true;
}

Facts detach_block(void* address) {
  uint32_t* granule = granule_of(reinterpret_cast<uintptr_t>(address));
  if (granule == nullptr || (*granule & kFactStart) == 0) return 0;
  const Facts facts = load_facts(granule);
  store_facts(granule, 0);
  return facts;
}

void reattach_block(void* address, Facts facts) {
  store_facts(granule_of(reinterpret_cast<uintptr_t>(address)), facts);
}

uint64_t block_size(void* address, Facts facts) {
  const auto first = static_cast<uint32_t>(facts);
  return size_of(reinterpret_cast<uintptr_t>(address), first, site_at(first & kFactSite));
}

void drop_block(Inside& in, void* address, Facts facts, uint64_t size) {
  const auto first = static_cast<uint32_t>(facts);
  PlumbBlockSite& site = site_at(first & kFactSite);
  if ((site.flags & PLUMB_SITE_ANY_SIZE) != 0) {
    __atomic_fetch_sub(&site.size, size, __ATOMIC_RELAXED);
    SlotUse slot(in);
    slot->counters->freed_bytes += size;
  }
  if ((first & kFactOdd) != 0) take_odd(reinterpret_cast<uintptr_t>(address));
  __atomic_fetch_add(&site.freed_elsewhere, 1, __ATOMIC_RELAXED);
}

void mark_block_usable(Inside&, void* address) {
  uint32_t* granule = granule_of(reinterpret_cast<uintptr_t>(address));
  if (granule != nullptr && (*granule & kFactStart) != 0) *granule |= kFactUsable;
}

bool ignore_block(Inside&, uintptr_t address) {
  // Blocks are known by their start only: from inside of one, it is below.
  constexpr unsigned kMostSteps = 1u << 16;
  uintptr_t at = address & ~uintptr_t{15};
  for (unsigned step = 0; step < kMostSteps; ++step, at -= 16) {
    uint32_t* granule = granule_of(at);
    if (granule == nullptr || (*granule & kFactStart) == 0) continue;
    if (address - at > size_of(at, *granule, site_at(*granule & kFactSite))) return false;
    if (note_odd(at, PLUMB_BLOCK_IGNORED | PLUMB_BLOCK_EXCLUDED, 0)) *granule |= kFactOdd;
    return true;
  }
  return false;
}

void keep_block_flags(const PlumbBlock& block) {
  const uint32_t index = block_table().find_start(block.address);
  if (index == 0 || !note_odd(block.address, block.flags, 0)) return;
  block_table().entry(index).facts |= kFactOdd;
}

namespace {

// Fills one granule page after the other into the table.
class Lister {
 public:
  bool list_all() {
    pagemap_ = sys_open("/proc/thread-self/pagemap");
    const Granules& granules = block_table().granules();
    bool room = true;
    for (size_t i = 0; room && i < granules.leaf_count(); ++i) room = list_leaf(granules.made(i));
    if (pagemap_ >= 0) sys_close(pagemap_);
    return room;
  }

 private:
  static constexpr size_t kPageWords = kPage / sizeof(uint32_t);
  static constexpr size_t kBatch = 512;  // pages asked about at once

  bool list_leaf(uint32_t number) {
    const uintptr_t base = uintptr_t{number} << kLeafBits;
    uint32_t* leaf = block_table().granules().place(base);
    uint64_t touched[kBatch];
    for (size_t page = 0; page < kLeafGranules / kPageWords; page += kBatch) {
      const uint64_t first = reinterpret_cast<uintptr_t>(leaf) / kPage + page;
      const bool known = pagemap_ >= 0 && sys_pread(pagemap_, touched, sizeof touched, first * 8) ==
                                              static_cast<long>(sizeof touched);
      for (size_t i = 0; i < kBatch; ++i) {
        constexpr uint64_t kTouched = uint64_t{3} << 62;  // present, or swapped out
        if (known && (touched[i] & kTouched) == 0) continue;
        const size_t word = (page + i) * kPageWords;
        if (!list_page(leaf + word, base + word * 16)) return false;
      }
    }
    return true;
  }

  bool list_page(uint32_t* words, uintptr_t base) {
    for (size_t i = 0; i < kPageWords; ++i) {
      if ((words[i] & kFactStart) == 0) continue;
      if (!list(words + i, base + i * 16)) return false;
    }
    return true;
  }

  bool list(uint32_t* granule, uintptr_t address) {
    const uint64_t index = trace().take(PLUMB_SECTION_BLOCKS, 1);
    if (index == 0) return false;
    const uint32_t first = *granule;
    const PlumbBlockSite& site = site_at(first & kFactSite);
    PlumbBlock& block = block_table().entry(static_cast<uint32_t>(index));
    block.address = address;
    block.size = size_of(address, first, site);
    block.ordinal = static_cast<uint32_t>(load_facts(granule) >> 32);
    block.facts = first;
    block.stack = site.stack;
    block.thread = site.thread;
    block.leader = 0;
    block.api = site.api;
    block.flags = flags_of(address, first, site);
    block.state = PLUMB_BLOCK_LIVE;
    store_facts(granule, index);
    return true;
  }

  static uint8_t flags_of(uintptr_t address, uint32_t first, const PlumbBlockSite& site) {
    uint32_t flags = 0;
    if ((first & kFactUsable) != 0) flags |= PLUMB_BLOCK_USABLE;
    if ((site.flags & PLUMB_SITE_BY_CALLER) != 0) flags |= PLUMB_BLOCK_BY_CALLER;
    if ((site.flags & PLUMB_SITE_EXCLUDED) != 0) flags |= PLUMB_BLOCK_EXCLUDED;
    if ((first & kFactOdd) != 0) flags |= find_odd(address).flags;
    return static_cast<uint8_t>(flags);
  }

  int pagemap_ = -1;
};

}  // namespace

namespace {

// By a library that does not go through us.
void forget_freed() {
  Inside in;
  Granules& granules = block_table().granules();
  for (size_t i = 0; i < granules.leaf_count(); ++i) {
    const uintptr_t base = uintptr_t{granules.made(i)} << kLeafBits;
    const uint32_t* leaf = granules.place(base);
    for (size_t word = 0; word < kLeafGranules; ++word) {
      if ((leaf[word] & kFactStart) == 0) continue;
      const uintptr_t address = base + word * 16;
      if (is_freed_chunk(address)) remove_block(in, reinterpret_cast<void*>(address));
    }
  }
}

}  // namespace

bool list_live_blocks() {
  block_table().empty();
  if (expects_freed_chunks() && !watching()) forget_freed();
  forget_custom_entries();
  return Lister().list_all();
}

void restore_live_blocks() {
  BlockTable& table = block_table();
  for (uint32_t index = 1; index < table.end(); ++index) {
    const PlumbBlock& block = table.entry(index);
    if ((block.flags & PLUMB_BLOCK_CUSTOM) != 0) continue;
    uint32_t* granule = granule_of(block.address);
    if (granule == nullptr || *granule != index) continue;
    store_facts(granule, facts_of(block.facts, block.ordinal));
  }
  table.empty();
  forget_custom_entries();
}

}  // namespace plumb::rt
