#include "common/freed_chunks.h"

#include "common/granules.h"
#include "common/heap_layout.h"
#include "common/libc_malloc.h"
#include "common/safe_copy.h"

namespace plumb::rt {

namespace {

bool expected = false;
uintptr_t cache_key = 0;  // in the second word of a chunk that a thread keeps for itself

constexpr uint64_t kPreviousInUse = 1;
constexpr uint64_t kLargestFast = 128;
constexpr unsigned kFirstFastBin = 2;  // words before it in an arena
constexpr unsigned kMostSteps = 1u << 20;

bool read_word(uintptr_t at, uintptr_t& word) {
  return safe_copy(&word, reinterpret_cast<const void*>(at), sizeof word) == sizeof word;
}

// Each chunk of a fast bin refers to the next one, in disguise.
bool is_in_fast_bin(uintptr_t chunk, const ChunkHead& head) {
  uintptr_t arena = main_arena_address();
  if (head.in_other_arena() && !read_word(chunk & ~(kLeafSize - 1), arena)) return false;
  if (arena == 0) return false;
  const uintptr_t bin = arena + (kFirstFastBin + head.size() / 16 - 2) * sizeof(uintptr_t);
  uintptr_t at = 0;
  if (!read_word(bin, at)) return false;
  for (unsigned step = 0; at != 0 && step < kMostSteps; ++step) {
    if (at == chunk) return true;
    const uintptr_t place = at + sizeof(ChunkHead);
    uintptr_t next = 0;
    if (!read_word(place, next)) return false;
    at = next ^ (place >> 12);
  }
  return false;
}

}  // namespace

void expect_freed_chunks() {
  if (expected) return;
  // What glibc writes into a chunk of a size that nobody else uses now.
  constexpr size_t kSize = 24;
  void* probe = __libc_malloc(kSize);
  if (probe == nullptr) return;
  __libc_free(probe);
  uintptr_t words[2] = {};
  if (safe_copy(words, probe, sizeof words) == sizeof words) cache_key = words[1];
  expected = true;
}

bool expects_freed_chunks() { return expected; }

bool is_freed_chunk(uintptr_t block) {
  const uintptr_t chunk = block - sizeof(ChunkHead);
  ChunkHead head{};
  if (safe_copy(&head, reinterpret_cast<const void*>(chunk), sizeof head) != sizeof head) {
    return true;  // unmapped
  }
  if (head.is_mapped()) return false;
  uintptr_t second = 0;
  if (cache_key != 0 && read_word(block + sizeof second, second) && second == cache_key) {
    return true;
  }
  ChunkHead next{};
  if (safe_copy(&next, reinterpret_cast<const void*>(chunk + head.size()), sizeof next) !=
      sizeof next) {
    return true;  // the rest of the heap begins here
  }
  if ((next.size_and_flags & kPreviousInUse) == 0) return true;
  return head.size() <= kLargestFast && is_in_fast_bin(chunk, head);
}

}  // namespace plumb::rt
