#include "common/heap_layout.h"

#include <dlfcn.h>
#include <link.h>

#include "common/block_table.h"
#include "common/granules.h"
#include "common/spin_lock.h"
#include "common/sys.h"

extern "C" void* __libc_malloc(size_t);
extern "C" void __libc_free(void*);

namespace plumb::rt {

namespace {

Range main_arena{};
uintptr_t early_heap_end = 0;

constexpr size_t kMaxSbrk = 1024;
Range sbrk_ranges[kMaxSbrk];
size_t sbrk_count = 0;
bool sbrk_overflow = false;
SpinLock sbrk_lock;

constexpr size_t kBinWords = 254;
constexpr size_t kWordsBefore = 14;  // lock, flags, fast bins, top, last remainder

// An empty bin points to where its header would be: two words before itself.
bool is_empty_bin(const uintptr_t* word) {
  const uintptr_t expected = reinterpret_cast<uintptr_t>(word - 2);
  return word[0] == expected && word[1] == expected;
}

// malloc must have been used, and next to nothing freed: all bins are empty.
Range find_main_arena(const Range& data) {
  const auto* word = reinterpret_cast<const uintptr_t*>(data.begin);
  const auto* end = reinterpret_cast<const uintptr_t*>(data.end);
  for (; word + kBinWords <= end; ++word) {
    if (!is_empty_bin(word)) continue;
    size_t bins = 1;
    while (bins * 2 < kBinWords && is_empty_bin(word + bins * 2)) ++bins;
    if (bins * 2 == kBinWords) {
      return {reinterpret_cast<uintptr_t>(word - kWordsBefore),
              reinterpret_cast<uintptr_t>(word + kBinWords)};
    }
    word += bins * 2 - 1;
  }
  return {};
}

void heap_ranges(const Range& heap, OwnVector<Range>& ranges) {
  uintptr_t at = heap.begin;
  if (early_heap_end > at) at = early_heap_end < heap.end ? early_heap_end : heap.end;
  if (sbrk_overflow) return;                 // cannot tell them apart: all of it is a root
  for (size_t i = 0; i < sbrk_count; ++i) {  // ascending
    const Range& theirs = sbrk_ranges[i];
    if (theirs.begin >= heap.end || theirs.end <= at) continue;
    if (theirs.begin > at) ranges.push({at, theirs.begin});
    at = theirs.end;
  }
  if (at < heap.end) ranges.push({at, heap.end});
}

// An arena's heap begins with: arena, previous heap, size.
bool is_arena_heap(const OwnVector<Mapping>& mappings, uintptr_t heap) {
  const Mapping* mapping = mapping_at(mappings, heap);
  if (mapping == nullptr || !mapping->writable || mapping->range.end < heap + kPage) return false;
  const uintptr_t size = reinterpret_cast<const uintptr_t*>(heap)[2];
  return size != 0 && size <= kHeapAlignment && size % kPage == 0;
}

constexpr size_t kTopWord = 12;  // lock, flags, fast bins

}  // namespace

bool prepare_heap_layout() {
  early_heap_end = static_cast<uintptr_t>(sys_call(SYS_brk, 0));
  __libc_free(__libc_malloc(16));
  OwnVector<Mapping> mappings;
  if (!read_maps(mappings)) return false;
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(&__libc_malloc), &object) != 0) return false;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(object.dlfo_map_start);
  const uintptr_t end = reinterpret_cast<uintptr_t>(object.dlfo_map_end);
  bool heap_was_there = false;
  for (const Mapping& mapping : mappings) {
    if (mapping.heap && mapping.range.begin < early_heap_end) heap_was_there = true;
    if (mapping.writable && mapping.range.begin >= begin && mapping.range.end <= end &&
        main_arena.end == 0) {
      main_arena = find_main_arena(mapping.range);
    }
  }
  if (!heap_was_there) early_heap_end = 0;
  return main_arena.end != 0;
}

void list_arena_heaps(const OwnVector<Mapping>& mappings, OwnVector<ArenaHeap>& heaps) {
  constexpr size_t kNextWords = 2;  // behind the bins: which of them are in use
  constexpr unsigned kMost = 1u << 16;
  if (main_arena.end == 0) return;
  const auto next_of = [](uintptr_t arena) {
    return reinterpret_cast<const uintptr_t*>(arena + main_arena.size())[kNextWords];
  };
  uintptr_t arena = next_of(main_arena.begin);
  for (unsigned i = 0; i < kMost && arena != main_arena.begin; ++i, arena = next_of(arena)) {
    const auto belongs = [&](uintptr_t heap) {
      return is_arena_heap(mappings, heap) && *reinterpret_cast<const uintptr_t*>(heap) == arena;
    };
    if (!belongs(arena & ~(kHeapAlignment - 1))) return;  // another libc: not what we know
    const uintptr_t top = reinterpret_cast<const uintptr_t*>(arena)[kTopWord];
    uintptr_t heap = top & ~(kHeapAlignment - 1);
    for (unsigned j = 0; j < kMost && belongs(heap); ++j) {
      heaps.push({arena, heap, top});
      heap = reinterpret_cast<const uintptr_t*>(heap)[1];
    }
  }
}

uintptr_t main_arena_top() {
  return main_arena.end == 0 ? 0 : reinterpret_cast<const uintptr_t*>(main_arena.begin)[kTopWord];
}

void note_sbrk(uintptr_t begin, intptr_t increment) {
  if (increment <= 0) return;
  sbrk_lock.lock();
  const uintptr_t end = begin + static_cast<uintptr_t>(increment);
  if (sbrk_count != 0 && sbrk_ranges[sbrk_count - 1].end == begin) {
    sbrk_ranges[sbrk_count - 1].end = end;
  } else if (sbrk_count < kMaxSbrk) {
    sbrk_ranges[sbrk_count++] = {begin, end};
  } else {
    sbrk_overflow = true;
  }
  sbrk_lock.unlock();
}

uintptr_t main_arena_address() { return main_arena.begin; }
Range main_arena_range() { return main_arena; }

Range mapped_chunk(uintptr_t block) {
  const ChunkHead& head = chunk_head(block);
  const uintptr_t chunk = block - sizeof(ChunkHead);
  return {chunk - head.previous_size, chunk + head.size()};
}

// The words before a block may be damaged: what they claim must fit.
bool is_whole_mapping(const OwnVector<Mapping>& mappings, Range range) {
  const Mapping* mapping = mapping_at(mappings, range.begin);
  return mapping != nullptr && range.begin % kPage == 0 && range.end % kPage == 0 &&
         range.begin < range.end && range.end <= mapping->range.end && mapping->writable;
}

void allocator_ranges(const OwnVector<Mapping>& mappings, OwnVector<Range>& ranges) {
  if (main_arena.end != 0) ranges.push(main_arena);
  OwnVector<ArenaHeap> arena_heaps;
  list_arena_heaps(mappings, arena_heaps);
  for (const ArenaHeap& each : arena_heaps) ranges.push({each.heap, each.heap + kHeapAlignment});
  arena_heaps.release();
  Range heap{};
  for (size_t i = 0; i < mappings.size(); ++i) {
    if (!mappings[i].heap) continue;
    heap_ranges(mappings[i].range, ranges);
    if (heap.end == 0) heap.begin = mappings[i].range.begin;
    heap.end = mappings[i].range.end;
  }
  BlockTable& table = block_table();
  uintptr_t last_arena = 0;
  for (uint32_t index = 1; index < table.end(); ++index) {
    const PlumbBlock& block = table.entry(index);
    // What is before an announced block is no head of glibc's.
    if (block.state == PLUMB_BLOCK_FREE || (block.flags & PLUMB_BLOCK_CUSTOM) != 0) continue;
    if (block.address >= heap.begin && block.address < heap.end) continue;
    const uintptr_t arena = block.address & ~(kHeapAlignment - 1);
    if (arena == last_arena) continue;
    const ChunkHead& head = chunk_head(block.address);
    if (head.is_mapped() && is_whole_mapping(mappings, mapped_chunk(block.address))) {
      ranges.push(mapped_chunk(block.address));
    } else if (head.in_other_arena() && is_arena_heap(mappings, arena)) {
      ranges.push({arena, arena + kHeapAlignment});
      last_arena = arena;
    } else {
      // The main arena beside [heap], where brk was refused; or the program
      // has overwritten what is before the block.
      ranges.push({block.address, block.address + block.size});
    }
  }
}

}  // namespace plumb::rt
