// The memory of sampled blocks: shared pages, so that their page-table entries
// can be dropped without losing what is in them. The next access, the
// program's or the kernel's, brings the entry back, and that is how touches
// are seen (touches.h).
//
// Each block is alone in a window of 64 KB (or a few in a row): the kernel maps
// neighbours of a page that is read along with it, but never beyond such a
// window. Only the pages of the block itself take memory. The windows lie in
// one range of addresses, reserved at the start, so that "is this block
// sampled?" is one comparison; memory is put there in chunks.
//
// A second mapping of the same pages (the alias) is ours alone: through it
// contents are read without touching the program's mapping.
//
// Where the kernel has no second mapping of shared pages for us, the memory is
// private: blocks are sampled and counted, and no touch is ever seen.
//
// fork: shared pages would stay shared. Before it, the contents are copied;
// the child puts memory of its own in place of the range and the copy into it.
// Limit: what other threads write between the copy and the fork itself is not
// in the child.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/memory.h"

namespace plumb::rt {

inline constexpr size_t kWindow = size_t{64} << 10;
inline constexpr size_t kWindowPages = kWindow / kPage;
inline constexpr size_t kChunkWindows = 512;
inline constexpr size_t kChunk = kChunkWindows * kWindow;
inline constexpr size_t kMostWindows = 4;
// Larger ones stay where malloc puts them.
inline constexpr size_t kLargestPlaced = kMostWindows * kWindow - 64;

// One range, written once at the start: read by every free.
struct ArenaRange {
  uintptr_t begin;
  uintptr_t size;
};
extern ArenaRange arena_range;
inline bool in_arena(const void* block) {
  return reinterpret_cast<uintptr_t>(block) - arena_range.begin < arena_range.size;
}

// How much memory the program may map (ulimit -v, and -d, by which writable memory
// is counted); UINT64_MAX without a limit.
uint64_t address_limit();

// Everything below but is_dirty wants the model's lock (model.h).
class Arena {
 public:
  // Reserves up to 4 GB of addresses; false when there is no room at all.
  bool prepare();

  // So many windows in a row; returns the first's number, or -1.
  long take(size_t windows);
  // `written`: so many bytes of them, from the first on, may be something other than zeros.
  void give(size_t window, size_t windows, size_t written);

  // Windows from here on were never used.
  size_t high() const { return high_; }
  size_t capacity() const { return arena_range.size / kWindow; }
  uintptr_t address(size_t window) const { return arena_range.begin + window * kWindow; }
  size_t window_of(uintptr_t address) const { return (address - arena_range.begin) / kWindow; }
  const void* alias(uintptr_t address) const {
    return reinterpret_cast<const void*>(address - arena_range.begin + alias_);
  }
  // Are the pages shared, so that their entries can be dropped and a fork has to
  // copy them?
  bool is_shared() const { return shared_; }
  // May a new block in this window find something other than zeros?
  bool is_dirty(size_t window) const { return dirty_[window] != 0; }

  // Gives memory of free windows back, but for some that are used next; false when
  // there is more to do: somebody may be waiting for the lock.
  bool trim();

  // Takes the chunks out of what mlockall locked, and gives back the pages that
  // it filled holes with.
  void unlock_pages();

  // From now on pages stay as they are: to give them back may be forbidden.
  void give_nothing_back() { gives_nothing_back_ = true; }

  // In the child of a fork, in place of all chunks: private memory, zeroed; or
  // shared memory of its own, zeroed, for a child that is watched.
  bool make_private();
  bool make_own();

 private:
  bool commit_chunk();
  bool share_chunk(uintptr_t place);
  void clear(size_t window, size_t windows);

  bool shared_ = true;
  bool gives_nothing_back_ = false;
  uintptr_t alias_ = 0;
  size_t committed_ = 0;  // windows
  size_t high_ = 0;
  void push(uint32_t& list, size_t window);
  size_t pop(uint32_t& list);

  // Free windows without memory by how many there are in a row, and single ones that
  // have kept theirs: window + 1, linked through next_.
  uint32_t clean_free_[kMostWindows + 1] = {};
  uint32_t dirty_free_ = 0;
  size_t kept_pages_ = 0;  // of those
  uint32_t* next_ = nullptr;
  uint8_t* dirty_ = nullptr;  // pages
};

}  // namespace plumb::rt
