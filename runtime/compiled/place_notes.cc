#include "compiled/place_notes.h"

#include "common/memory.h"
#include "common/spin_lock.h"
#include "compiled/layout.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

namespace {

constexpr uint32_t kMaxNotes = uint32_t{1} << 22;
constexpr uint32_t kBuckets = uint32_t{1} << 23;
PlaceNote* notes = nullptr;
uint32_t* buckets = nullptr;  // note index + 1
uint32_t note_count = 0;
SpinLock notes_lock;

uint32_t bucket_of(const PlaceNote& note) {
  uint64_t hash = (uint64_t{note.place} << 32 | note.stack) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  hash = (hash ^ (uint64_t{note.offset} << 8 | note.cause)) * 0xbf58476d1ce4e5b9u;
  return static_cast<uint32_t>(hash >> 41);
}

uint32_t number_of(uint32_t index) {
  return kFirstNote + index * static_cast<uint32_t>(kPlaceStep);
}
static_assert(kFirstNote + kMaxNotes * kPlaceStep <= kTick);

bool same(const PlaceNote& left, const PlaceNote& right) {
  return left.place == right.place && left.stack == right.stack && left.offset == right.offset &&
         left.cause == right.cause;
}

}  // namespace

bool prepare_place_notes() {
  notes = static_cast<PlaceNote*>(own_pages(kMaxNotes * sizeof *notes));
  buckets = static_cast<uint32_t*>(own_pages(kBuckets * sizeof *buckets));
  return notes != nullptr && buckets != nullptr;
}

namespace {

uint32_t find_or_add(const PlaceNote& note, uint32_t bucket) {
  // Readers need no lock: a bucket is written once, after its note.
  while (true) {
    const uint32_t index = __atomic_load_n(&buckets[bucket], __ATOMIC_ACQUIRE);
    if (index == 0) break;
    if (same(notes[index - 1], note)) return number_of(index - 1);
    bucket = (bucket + 1) % kBuckets;
  }
  notes_lock.lock();
  uint32_t number = 0;
  while (buckets[bucket] != 0 && !same(notes[buckets[bucket] - 1], note)) {
    bucket = (bucket + 1) % kBuckets;
  }
  if (buckets[bucket] != 0) {
    number = number_of(buckets[bucket] - 1);
  } else if (note_count < kMaxNotes) {
    notes[note_count] = note;
    number = number_of(note_count);
    __atomic_store_n(&buckets[bucket], ++note_count, __ATOMIC_RELEASE);
  }
  notes_lock.unlock();
  return number;
}

}  // namespace

uint32_t note_place(Inside& in, const PlaceNote& note) {
  const uint32_t bucket = bucket_of(note);
  ThreadHeapUse heap(in);
  KnownNote& known = heap->notes[bucket % kKnownNotes];
  if (known.number == 0 || !same(known.note, note)) known = {note, find_or_add(note, bucket)};
  return known.number;
}

const PlaceNote* noted_place(uint32_t number) {
  if (number < kFirstNote) return nullptr;
  const uint32_t index = (number - kFirstNote) / kPlaceStep;
  return index < note_count ? &notes[index] : nullptr;
}

}  // namespace plumb::rt
