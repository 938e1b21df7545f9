#include "compiled/place_notes.h"

#include "common/memory.h"
#include "common/spin_lock.h"
#include "compiled/layout.h"
#include "compiled/thread_heap.h"

namespace plumb::rt {

namespace {

constexpr uint32_t kMaxNotes = uint32_t{1} << 22;
constexpr uint32_t kFirstBuckets = uint32_t{1} << 12;

// Grows with the notes: entries lie all over it, and each page that one lies in is
// memory of the program's.
struct Buckets {
  uint32_t mask;
  uint32_t first[];  // note index + 1
};
PlaceNote* notes = nullptr;
Buckets* buckets = nullptr;
uint32_t note_count = 0;
SpinLock notes_lock;

size_t bytes_for(uint32_t count) { return sizeof(Buckets) + count * sizeof(uint32_t); }

uint64_t hash_of(const PlaceNote& note) {
  uint64_t hash = (uint64_t{note.place} << 32 | note.stack) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  return (hash ^ (uint64_t{note.offset} << 8 | note.cause)) * 0xbf58476d1ce4e5b9u >> 32;
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
  buckets = static_cast<Buckets*>(own_pages(bytes_for(kFirstBuckets)));
  if (notes == nullptr || buckets == nullptr) return false;
  buckets->mask = kFirstBuckets - 1;
  return true;
}

bool notes_are_few() { return __atomic_load_n(&note_count, __ATOMIC_RELAXED) < kMaxNotes / 256; }

namespace {

// The note's bucket, or the empty one that is to be its.
uint32_t* bucket_for(Buckets& table, const PlaceNote& note, uint32_t& index) {
  auto at = static_cast<uint32_t>(hash_of(note)) & table.mask;
  while (true) {
    index = __atomic_load_n(&table.first[at], __ATOMIC_ACQUIRE);
    if (index == 0 || same(notes[index - 1], note)) return &table.first[at];
    at = (at + 1) & table.mask;
  }
}

// Twice the notes that there are find room. Others may still read the old table: it
// stays.
void grow() {
  const uint32_t count = (buckets->mask + 1) * 4;
  auto* larger = static_cast<Buckets*>(own_pages(bytes_for(count)));
  if (larger == nullptr) return;
  larger->mask = count - 1;
  for (uint32_t i = 0; i < note_count; ++i) {
    uint32_t index = 0;
    *bucket_for(*larger, notes[i], index) = i + 1;
  }
  __atomic_store_n(&buckets, larger, __ATOMIC_RELEASE);
}

uint32_t find_or_add(const PlaceNote& note) {
  // Readers need no lock: a bucket is written once, after its note.
  uint32_t index = 0;
  bucket_for(*__atomic_load_n(&buckets, __ATOMIC_ACQUIRE), note, index);
  if (index != 0) return number_of(index - 1);
  notes_lock.lock();
  if (note_count >= (buckets->mask + 1) / 2) grow();
  uint32_t* bucket = bucket_for(*buckets, note, index);
  uint32_t number = 0;
  if (index != 0) {
    number = number_of(index - 1);
  } else if (note_count < kMaxNotes && note_count < buckets->mask) {
    notes[note_count] = note;
    number = number_of(note_count);
    __atomic_store_n(bucket, note_count + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&note_count, note_count + 1, __ATOMIC_RELAXED);
  }
  notes_lock.unlock();
  return number;
}

}  // namespace

uint32_t note_place(Inside& in, const PlaceNote& note) {
  ThreadHeapUse heap(in);
  KnownNote& known = heap->notes[hash_of(note) % kKnownNotes];
  if (known.number == 0 || !same(known.note, note)) known = {note, find_or_add(note)};
  return known.number;
}

const PlaceNote* noted_place(uint32_t number) {
  if (number < kFirstNote) return nullptr;
  const uint32_t index = (number - kFirstNote) / kPlaceStep;
  return index < note_count ? &notes[index] : nullptr;
}

}  // namespace plumb::rt
