#include "common/heap_walk.h"

#include "common/heap_layout.h"
#include "common/libc_malloc.h"
#include "common/safe_copy.h"

namespace plumb::rt {

namespace {

constexpr uint64_t kPreviousInUse = 1;
constexpr uint64_t kLeastChunk = 32;
constexpr uintptr_t kHead = sizeof(ChunkHead);

uintptr_t kept_mark = 0;  // in the second word of a block that a thread keeps for itself

uintptr_t aligned(uintptr_t address) { return (address + 15) & ~uintptr_t{15}; }

bool read_head(uintptr_t chunk, ChunkHead& head) {
  return safe_copy(&head, reinterpret_cast<const void*>(chunk), sizeof head) == sizeof head;
}

bool is_kept_by_thread(uintptr_t block) {
  uintptr_t second = 0;
  return kept_mark != 0 &&
         safe_copy(&second, reinterpret_cast<const void*>(block + sizeof second), sizeof second) ==
             sizeof second &&
         second == kept_mark;
}

}  // namespace

void prepare_heap_walk() {
  // What glibc writes into a chunk of a size that nobody else uses now.
  constexpr size_t kSize = 24;
  auto* probe = static_cast<volatile uintptr_t*>(__libc_malloc(kSize));
  if (probe == nullptr) return;
  __libc_free(const_cast<uintptr_t*>(probe));
  kept_mark = probe[1];
}

// Notes each block between the first chunk and the top. False: it does not add up.
bool HeapWalk::walk_chunks(const Bounds& bounds, Heap& heap) {
  uintptr_t chunk = bounds.first;
  ChunkHead head{};
  if (!read_head(chunk, head)) return false;
  while (chunk != bounds.top) {
    const uint64_t size = head.size();
    const uintptr_t next = chunk + size;
    ChunkHead next_head{};
    if (bounds.top == 0 && size < kLeastChunk) {
      // Two heads that are no chunks end a heap that is full.
      return size == 0 || (size == kHead && read_head(next, next_head) && next_head.size() == 0);
    }
    const uintptr_t end = bounds.top != 0 ? bounds.top : bounds.range.end - kHead;
    if (size < kLeastChunk || size % kStep != 0 || size > end - chunk) return false;
    if (!read_head(next, next_head)) return false;
    const uintptr_t block = chunk + kHead;
    if ((next_head.size_and_flags & kPreviousInUse) != 0 && !is_kept_by_thread(block)) {
      const uintptr_t at = (block - heap.chunks.begin) / kStep;
      heap.bits[at / 64].starts |= uint64_t{1} << at % 64;
    }
    chunk = next;
    head = next_head;
  }
  return true;
}

bool HeapWalk::add(const Bounds& bounds) {
  Heap heap{};
  heap.range = bounds.range;
  heap.chunks = {bounds.first, bounds.top != 0 ? bounds.top : bounds.range.end};
  if (heap.chunks.begin >= heap.chunks.end || heap.chunks.end > bounds.range.end) return true;
  too_large_ = heap.chunks.size() > left_;
  if (too_large_) return false;
  left_ -= heap.chunks.size();
  heap.words = heap.chunks.size() / kStep / 64 + 1;
  heap.bits = static_cast<Bits*>(own_pages(heap.size()));
  if (heap.bits == nullptr) return false;
  if (walk_chunks(bounds, heap)) return heaps_.push(heap);
  release_own_pages(heap.bits, heap.size());
  return true;
}

bool HeapWalk::walk(const OwnVector<Mapping>& mappings, uint64_t most) {
  left_ = most;
  Range main{};
  for (size_t i = 0; i < mappings.size(); ++i) {
    if (!mappings[i].heap) continue;
    if (main.end != mappings[i].range.begin) main.begin = mappings[i].range.begin;
    main.end = mappings[i].range.end;
  }
  const uintptr_t main_top = main_arena_top();
  if (main_top > main.begin && main_top < main.end && !add({main, aligned(main.begin), main_top})) {
    return false;
  }
  OwnVector<ArenaHeap> others;
  list_arena_heaps(mappings, others);
  bool room = !others.failed();
  for (const ArenaHeap& each : others) {
    const Mapping* mapping = mapping_at(mappings, each.heap);
    if (mapping == nullptr) continue;
    const uintptr_t limit = each.heap + kHeapAlignment;
    Range range{each.heap, mapping->range.end < limit ? mapping->range.end : limit};
    const uintptr_t oldest = each.arena & ~(kHeapAlignment - 1);
    const uintptr_t before = each.arena - oldest;
    const uintptr_t first =
        aligned(each.heap == oldest ? each.arena + kArenaStateSize : each.heap + before);
    const bool is_newest = (each.top & ~(kHeapAlignment - 1)) == each.heap;
    room = room && add({range, first, is_newest ? each.top : 0});
  }
  others.release();
  sort_heaps();
  return room;
}

// By insertion: they are few, or come in order.
void HeapWalk::sort_heaps() {
  for (size_t i = 1; i < heaps_.size(); ++i) {
    const Heap heap = heaps_[i];
    size_t at = i;
    for (; at > 0 && heaps_[at - 1].chunks.begin > heap.chunks.begin; --at) {
      heaps_[at] = heaps_[at - 1];
    }
    heaps_[at] = heap;
  }
}

void HeapWalk::release() {
  for (Heap& heap : heaps_) release_own_pages(heap.bits, heap.size());
  heaps_.release();
}

const HeapWalk::Heap* HeapWalk::heap_of(uintptr_t address) const {
  size_t low = 0;
  size_t high = heaps_.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (address < heaps_[middle].chunks.begin)
      high = middle;
    else
      low = middle + 1;
  }
  if (low == 0 || address >= heaps_[low - 1].chunks.end) return nullptr;
  return &heaps_[low - 1];
}

Range HeapWalk::find(uintptr_t address) const {
  const Heap* heap = heap_of(address);
  if (heap == nullptr) return {};
  // The last start at or before it.
  size_t at = (address - heap->chunks.begin) / kStep;
  size_t word = at / 64;
  uint64_t bits = heap->bits[word].starts & (~uint64_t{0} >> (63 - at % 64));
  while (bits == 0) {
    if (word == 0) return {};
    bits = heap->bits[--word].starts;
  }
  at = word * 64 + (63 - static_cast<size_t>(__builtin_clzll(bits)));
  const Range block = block_at(*heap, at);
  return address <= block.end ? block : Range{};
}

Range HeapWalk::block_at(const Heap& heap, size_t step) {
  const uintptr_t begin = heap.chunks.begin + step * kStep;
  return {begin, begin + usable_size(begin)};
}

HeapWalk::Place HeapWalk::place_of(const Range& block) const {
  const Heap* heap = heap_of(block.begin);
  const size_t at = (block.begin - heap->chunks.begin) / kStep;
  return {heap, at / 64, uint64_t{1} << at % 64};
}

void HeapWalk::reach(const Range& block) {
  const Place place = place_of(block);
  place.heap->bits[place.word].reached |= place.bit;
}

bool HeapWalk::is_reached(const Range& block) const {
  const Place place = place_of(block);
  return (place.heap->bits[place.word].reached & place.bit) != 0;
}

}  // namespace plumb::rt
