#include "compiled/arena.h"

#include <pthread.h>
#include <sys/mman.h>

#include "common/spin_lock.h"
#include "common/sys.h"
#include "compiled/cached_slots.h"
#include "compiled/size_classes.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

uintptr_t arena_begin = 0;

namespace {

// What no thread has.
struct Region {
  SpinLock lock;
  uint64_t unused;  // first of the list, in granules from `begin`; 0: none
  uintptr_t begin;
  uintptr_t next;  // never used from here on; read by others without the lock
  uintptr_t end;
  uintptr_t in_large_pages;  // as far as they were asked for

  void take(size_t bytes) { __atomic_store_n(&next, next + bytes, __ATOMIC_RELAXED); }
};
Region small[kSmallClasses];
Region large;                          // its `unused` is not used:
uint64_t large_unused[kLargeClasses];  // one list per class instead

constexpr unsigned kLargeMark = kFirstLarge;  // slot_class of large ones is this plus the step

Head* slot_at(const Region& region, uint64_t granules) {
  return reinterpret_cast<Head*>(region.begin + granules * 16);
}
uint64_t granules_of(const Region& region, const Head* slot) {
  return (reinterpret_cast<uintptr_t>(slot) - region.begin) / 16;
}

// What the first slot of a list says, while nobody has the list.
struct Chain {
  uint64_t next;  // the first slot of the next list, in granules; 0: none
  uint64_t count;
};
Chain& chain_at(const Region& region, uint64_t granules) {
  static_assert(sizeof(Chain) + kHeadSize <= small_slot_size(0));
  return *reinterpret_cast<Chain*>(slot_at(region, granules) + 1);
}

// A class that has grown large goes on in large pages, and so does the shadow: what is
// spread over many small ones costs a walk through the page tables at each access, and
// drops are spread as the program's own accesses are. The memory that is not used yet
// is a small part of what is.
constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
constexpr uintptr_t kManyPages = 8 * kLargePage;  // before the first of them

bool asks_nothing = false;

// Advice may fail, or be forbidden (own_calls.cc).
bool advise(uintptr_t begin, size_t size, int advice) {
  return !asks_nothing && !is_error(sys_call(SYS_madvise, static_cast<long>(begin),
                                             static_cast<long>(size), advice));
}

void use_large_page(Region& region) {
  const uintptr_t at = region.in_large_pages;
  region.in_large_pages += kLargePage;
  advise(at, kLargePage, MADV_HUGEPAGE);
  const uintptr_t shadow = reinterpret_cast<uintptr_t>(shadow_of(at));
  if (is_tracked(at) && shadow % kLargePage == 0 && at - region.begin >= 2 * kManyPages) {
    advise(shadow, kLargePage, MADV_HUGEPAGE);
  }
}

// A list from the common ones, or fresh slots.
bool refill(CachedSlots& cached, unsigned slot_class) {
  Region& region = small[slot_class];
  region.lock.lock();
  if (region.unused != 0) {
    cached.first = region.unused;
    const Chain chain = chain_at(region, cached.first);
    cached.count = static_cast<unsigned>(chain.count);
    region.unused = chain.next;
  } else {
    const size_t bytes = small_slot_size(slot_class) * batch_of(slot_class);
    if (region.end - region.next >= bytes) {
      cached.fresh = region.next;
      cached.fresh_end = region.next + bytes;
      region.take(bytes);
      if (__builtin_expect(region.next > region.in_large_pages, 0)) use_large_page(region);
    }
  }
  region.lock.unlock();
  return cached.count != 0 || cached.fresh != cached.fresh_end;
}

void give_chain(unsigned slot_class, uint64_t first, unsigned count) {
  if (count == 0) return;
  Region& region = small[slot_class];
  region.lock.lock();
  chain_at(region, first) = {region.unused, count};
  region.unused = first;
  region.lock.unlock();
}

struct Slot {
  Head* head = nullptr;
  bool zero = false;
  bool fresh = false;
};

__attribute__((noinline)) Slot take_other(CachedSlots& cached, unsigned slot_class);

inline Slot take_small(CachedSlots& cached, unsigned slot_class) {
  if (__builtin_expect(cached.count == 0, 0)) return take_other(cached, slot_class);
  return {take_cached(cached, slot_class)};
}

// The list that the thread takes from is empty.
Slot take_other(CachedSlots& cached, unsigned slot_class) {
  if (cached.spare_count != 0) {
    cached.first = cached.spare;
    cached.count = cached.spare_count;
    cached.spare_count = 0;
    return take_small(cached, slot_class);
  }
  if (cached.fresh == cached.fresh_end && !refill(cached, slot_class)) return {};
  if (cached.count != 0) return take_small(cached, slot_class);
  Head* slot = reinterpret_cast<Head*>(cached.fresh);
  cached.fresh += small_slot_size(slot_class);
  return {slot, true, true};
}

Slot take_large(unsigned step) {
  Slot slot;
  const size_t bytes = large_slot_size(step);
  large.lock.lock();
  if (large_unused[step] != 0) {
    slot = {slot_at(large, large_unused[step] - 1), true};
    large_unused[step] = slot.head->size;
  } else if (large.end - large.next >= bytes) {
    slot = {reinterpret_cast<Head*>(large.next), true, true};
    large.take(bytes);
    // The slot's extent must be known to whoever walks the region.
    slot.head->slot_class = kLargeMark + step;
  }
  large.lock.unlock();
  return slot;
}

void give_large(Head* slot, unsigned step) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(slot);
  // The first page keeps the head. Locked pages are not given back: they are zeroed.
  const bool given = advise(begin + kPage, large_slot_size(step) - kPage, MADV_DONTNEED);
  __builtin_memset(slot + 1, 0, (given ? kPage : large_slot_size(step)) - kHeadSize);
  large.lock.lock();
  slot->state = kUnused;
  slot->size = large_unused[step];
  large_unused[step] = granules_of(large, slot) + 1;
  large.lock.unlock();
}

// The start of the slot around a live block.
Head* slot_of(Head& head) {
  if (head.aligned == 0) return &head;
  const uint64_t back = reinterpret_cast<uint64_t*>(&head)[-1];
  return reinterpret_cast<Head*>(reinterpret_cast<uintptr_t>(&head) - back);
}

}  // namespace

void arena_asks_nothing() { asks_nothing = true; }

bool prepare_arena(bool tracked) {
  arena_begin = (tracked ? kArenaNumber : kPlainNumber) << kArenaShift;
  const long got =
      sys_mmap(reinterpret_cast<void*>(arena_begin), kArenaSize, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (is_error(got) || static_cast<uintptr_t>(got) != arena_begin) return false;
  uintptr_t at = arena_begin;
  for (Region& region : small) {
    region.begin = at;
    region.next = at + 16;  // granule 0 is "none"
    region.end = at + (uint64_t{1} << kRegionBits);
    region.in_large_pages = at + kManyPages;
    at = region.end;
  }
  large.begin = large.next = at;
  large.end = arena_begin + kArenaSize;
  return true;
}

bool was_in_use(uint64_t value) {
  const uint64_t number = (value - arena_begin) >> kRegionBits;
  const Region& region = number < kSmallClasses ? small[number] : large;
  return value <= __atomic_load_n(&region.next, __ATOMIC_RELAXED);
}

Range arena_range() { return {arena_begin, arena_begin + kArenaSize}; }

Taken take_block(Inside& in, Head made, size_t alignment) {
  const size_t size = made.size;
  const bool aligned = __builtin_expect(alignment > 16, 0);
  const size_t bytes = size + kHeadSize + (aligned ? alignment + kHeadSize : 0);
  Slot slot;
  unsigned slot_class;
  if (__builtin_expect(bytes <= kLargestSmall, 1)) {
    slot_class = small_class_for(bytes < 17 ? 17 : bytes);
    ThreadHeapUse heap(in);
    slot = take_small(heap->slots[slot_class], slot_class);
  } else {
    slot_class = large_class_for(bytes);
    slot = take_large(slot_class);
    slot_class += kLargeMark;
  }
  if (__builtin_expect(slot.head == nullptr, 0)) return {};
  Head* head = slot.head;
  made.born = head->born;
  if (aligned) {
    uintptr_t block = reinterpret_cast<uintptr_t>(head) + 2 * kHeadSize;
    block = (block + alignment - 1) & ~(alignment - 1);
    const uint64_t back = block - kHeadSize - reinterpret_cast<uintptr_t>(head);
    head->slot_class = slot_class;
    head->born = back;
    head->state = kAligned;
    head = reinterpret_cast<Head*>(block) - 1;
    reinterpret_cast<uint64_t*>(head)[-1] = back;
  }
  made.slot_class = slot_class;
  made.aligned = aligned;
  *head = made;  // as a whole: its parts are not worth reading
  return {head + 1, slot.zero, slot.fresh};
}

namespace {

void keep_slot(Inside& in, Head* slot, unsigned slot_class, uint64_t born) {
  ThreadHeapUse heap(in);
  CachedSlots& cached = heap->slots[slot_class];
  if (keep_cached(cached, slot, slot_class, born)) pass_on(cached, slot_class);
}

__attribute__((noinline, cold)) void give_unusual(Inside& in, Head& head) {
  Head* slot = slot_of(head);
  slot->born = head.born;
  head.state = kUnused;
  if (slot->slot_class >= kLargeMark) {
    give_large(slot, slot->slot_class - kLargeMark);
  } else {
    keep_slot(in, slot, slot->slot_class, slot->born);
  }
}

}  // namespace

void pass_on(CachedSlots& cached, unsigned slot_class) {
  give_chain(slot_class, cached.spare, cached.spare_count);
  cached.spare = cached.first;
  cached.spare_count = cached.count;
  cached.count = 0;
}

void give_block(Inside& in, void* block) {
  Head& head = head_of(block);
  if (__builtin_expect(head.aligned != 0 || head.slot_class >= kLargeMark, 0)) {
    give_unusual(in, head);
  } else {
    keep_slot(in, &head, head.slot_class, head.born);
  }
}

// Each such move leaves a mapping of its own, of which a process can have some ten
// thousands: not for small ones.
constexpr size_t kLeastMoved = size_t{1} << 20;

bool move_contents(Inside&, void* from, void* to) {
  Head& old = head_of(from);
  Head& now = head_of(to);
  if (asks_nothing || old.size < kLeastMoved || now.size < old.size) return false;
  const auto is_plain = [](const Head& head) {
    return head.aligned == 0 && head.slot_class >= kLargeMark;
  };
  if (!is_plain(old) || !is_plain(now)) return false;
  // The heads are in the same place of their pages, and stay what they are.
  const Head saved_old = old;
  const Head saved_now = now;
  const long length = static_cast<long>((kHeadSize + old.size + kPage - 1) & ~(kPage - 1));
  constexpr long kKeepOld = 4;  // MREMAP_DONTUNMAP, since Linux 5.7
  const long got = sys_call(SYS_mremap, reinterpret_cast<long>(&old), length, length,
                            MREMAP_MAYMOVE | MREMAP_FIXED | kKeepOld, reinterpret_cast<long>(&now));
  if (is_error(got)) return false;
  old = saved_old;
  now = saved_now;
  return true;
}

bool fits_slot(const Head& head, size_t size) {
  if (head.aligned != 0 || size > kMaxBlock) return false;
  const size_t bytes = size + kHeadSize;
  if (head.slot_class >= kLargeMark) {
    return bytes > kLargestSmall && large_class_for(bytes) + kLargeMark == head.slot_class;
  }
  return bytes <= kLargestSmall && small_class_for(bytes < 17 ? 17 : bytes) == head.slot_class;
}

namespace {

void* live_in(Head* slot, uintptr_t address) {
  Head* head = slot;
  if (slot->state == kAligned) {
    head = reinterpret_cast<Head*>(reinterpret_cast<uintptr_t>(slot) + slot->born);
  }
  const uintptr_t block = reinterpret_cast<uintptr_t>(head + 1);
  const bool inside = head->state == kLive && address >= block && address - block <= head->size;
  return inside ? head + 1 : nullptr;
}

}  // namespace

void* block_around(uintptr_t address) {
  const uintptr_t offset = address - arena_begin;
  if (offset >= kArenaSize) return nullptr;
  if (const uint64_t number = offset >> kRegionBits; number < kSmallClasses) {
    const Region& region = small[number];
    const size_t bytes = small_slot_size(static_cast<unsigned>(number));
    if (address < region.begin + 16 || address >= region.next) return nullptr;
    const uintptr_t slot = region.begin + 16 + (address - region.begin - 16) / bytes * bytes;
    return live_in(reinterpret_cast<Head*>(slot), address);
  }
  large.lock.lock();
  const uintptr_t end = large.next;
  large.lock.unlock();
  for (uintptr_t at = large.begin; at < end;) {
    Head* slot = reinterpret_cast<Head*>(at);
    const size_t bytes = large_slot_size(slot->slot_class - kLargeMark);
    if (address < at + bytes) return live_in(slot, address);
    at += bytes;
  }
  return nullptr;
}

void for_each_block(void (*visit)(void*, void*), void* context) {
  const auto look = [&](Head* slot) {
    if (slot->state == kLive) {
      visit(context, slot + 1);
    } else if (slot->state == kAligned) {
      Head* head = reinterpret_cast<Head*>(reinterpret_cast<uintptr_t>(slot) + slot->born);
      if (head->state == kLive) visit(context, head + 1);
    }
  };
  for (unsigned i = 0; i < kSmallClasses; ++i) {
    const size_t bytes = small_slot_size(i);
    for (uintptr_t at = small[i].begin + 16; at < small[i].next; at += bytes) {
      look(reinterpret_cast<Head*>(at));
    }
  }
  for (uintptr_t at = large.begin; at < large.next;) {
    Head* slot = reinterpret_cast<Head*>(at);
    look(slot);
    at += large_slot_size(slot->slot_class - kLargeMark);
  }
}

void give_up_cache(Inside& in) {
  ThreadHeapUse heap(in);
  for (unsigned i = 0; i < kSmallClasses; ++i) {
    CachedSlots& cached = heap->slots[i];
    give_chain(i, cached.spare, cached.spare_count);
    cached.spare_count = 0;
    // Fresh slots join the list as well: nobody would find them otherwise.
    while (cached.fresh != cached.fresh_end) {
      keep_cached(cached, reinterpret_cast<Head*>(cached.fresh), i, 0);
      cached.fresh += small_slot_size(i);
    }
    give_chain(i, cached.first, cached.count);
    cached.count = 0;
  }
}

}  // namespace plumb::rt
