// What is known of the sampled blocks: each live one, and sums per site.
//
// A sample is a record in a table; blocks in the arena find theirs by window,
// the others (large ones, in malloc's memory) by a small hash. A site is an
// allocation stack. All of it is behind one lock that only sampled
// allocations, their frees and the watching thread ever take: a few thousand
// times a second at most.
//
// Programs that tidy up at their end touch and free what they had leaked all along.
// What happens shortly before the end is therefore not believed: a sample that was
// freed after it had gone stale is kept for a while (parted) and counts as held to the
// end, and rests that ended then are none of the site's.
//
// Invariant: for each site, allocated minus freed is the sum of the weights of
// its live samples (up to rounding).
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/inside.h"
#include "common/memory.h"
#include "common/spin_lock.h"
#include "trace/watch_record.h"
#include "watch/arena.h"
#include "watch/sampler.h"

namespace plumb::rt {

// What the block is, for the model; all known before the lock is taken.
struct NewSample {
  size_t size;
  size_t alignment;  // power of two, at most kWindow
  uint64_t mean;
  uint32_t stack;
  uint32_t api;
  bool zeroed;
};

// As glibc would have it, so that a program that adds up usable sizes gets the
// same sum as without us.
inline size_t usable_size_for(size_t size) {
  const size_t chunk = (size + 8 + 15) & ~size_t{15};
  return (chunk < 32 ? 32 : chunk) - 8;
}

class Model {
 public:
  // Window 0 is kept for trying out (touches.h).
  bool prepare(uint64_t epoch);

  // A place in the arena, or null when there is none.
  void* place(Inside& in, const NewSample& sample);
  // A block that malloc itself holds.
  void note_large(Inside& in, const void* block, const NewSample& sample);
  // Is it one of those? Forgets it then.
  bool release_large(Inside& in, const void* block, uint32_t free_stack);
  void release(Inside& in, void* block, uint32_t free_stack);
  // From inside another call: done later.
  void release_later(void* block);

  size_t size_of(const void* block) const;  // in the arena

  // An access to a block in the arena, at any address in it, was traced.
  void note_access(Inside& in, const void* address, uint32_t stack, uint32_t burst);

  // --- for the watching thread

  // CPU time of the process, never less than any time that a sample has.
  uint64_t now() const { return __atomic_load_n(&now_, __ATOMIC_RELAXED); }
  // Reads the clock. Births do so themselves: the watching thread may have to wait
  // for a processor while the program runs on.
  uint64_t advance();
  // For a child, whose own clock starts anew.
  void go_on_from(uint64_t time) { inherited_ = time; }
  uint64_t mean() const { return __atomic_load_n(&mean_, __ATOMIC_RELAXED); }
  void set_mean(uint64_t mean) { __atomic_store_n(&mean_, mean, __ATOMIC_RELAXED); }
  // So many samples in a second of CPU time are too many: the mean is doubled at once.
  void set_most_per_second(uint64_t most) { most_per_second_ = most; }
  void limit(uint32_t bit) { __atomic_fetch_or(&limits_, bit, __ATOMIC_RELAXED); }
  uint32_t limits() const { return __atomic_load_n(&limits_, __ATOMIC_RELAXED); }

  // The samples of these windows that `touched` names were touched in the
  // epoch that ends now.
  template <typename Touched>
  void note_touches(size_t first, size_t end, Touched touched);
  void add_point(uint64_t elapsed);
  void trim();
  // The program ends: what parted lately was held to the end.
  void take_back_parted();

  uint64_t touch_count() const { return touch_count_; }
  double live_bytes();       // scaled
  double allocated_bytes();  // scaled

  // --- for the search as the program ends (reach.h)

  bool has_samples() const { return samples_ != nullptr && live_ != 0; }
  // What follows is no time of the program's.
  void stop_clock();
  // Keeps the lock until the other: nothing comes or goes.
  void begin_search();
  void end_search(PlumbWatchSearch outcome);
  uint32_t search_outcome() const { return search_; }
  uint32_t sample_end() const { return samples_used_; }
  // The live sample around an address in the arena, one past its end included; 0: none.
  uint32_t sample_around(uintptr_t address) const;
  Range sample_range(uint32_t index) const;
  // Where we read what is in it.
  uintptr_t shown_at(uint32_t index) const;
  bool is_live(uint32_t index) const { return samples_[index].alive != 0; }
  bool is_placed(uint32_t index) const { return samples_[index].windows != 0; }
  void set_lost(uint32_t index) { samples_[index].block.flags |= PLUMB_WATCH_LOST; }
  // Of the arena; empty: it has none.
  Range other_mapping() const;

  // After the program locked all of its memory.
  void unlock_pages();
  // No sample will follow.
  void give_nothing_back() { arena_.give_nothing_back(); }

  // Contents of all blocks in the arena, for the child of a fork. The lock is
  // held from prepare to one of the other two.
  void prepare_fork();
  void after_fork_in_parent();
  // A child that is to be watched goes on with all that is known; the return
  // value says whether it can.
  bool after_fork_in_child(bool watched);

  size_t windows_used() const { return arena_.high(); }
  uintptr_t window_address(size_t window) const { return arena_.address(window); }

  friend class Snapshot;

 private:
  struct Sample {
    PlumbWatchBlock block;
    uint64_t address;  // of a parted one: when it was freed
    uint32_t next;     // of the unused ones, those to be released later, or the parted
    uint32_t windows;  // 0: in malloc's memory
    uint32_t usable;
    uint32_t alive;
  };
  // The longest rests of a site that ended lately, in two stretches of time: the
  // older ones than these are in the site.
  struct LateRests {
    uint64_t begin;  // of the younger stretch
    uint64_t younger;
    uint64_t older;
  };
  struct Saved {  // before a fork; followed by the contents
    uint64_t address;
    uint64_t size;
  };

  static constexpr unsigned kFreeBits = 15;
  static constexpr uint32_t kFreeSlots = 1u << kFreeBits;
  static constexpr uint32_t kMostFrees = kFreeSlots / 2;

  uint32_t new_sample(const NewSample& sample);
  void hold_back(uint64_t time);
  void end_sample(uint32_t index, uint32_t free_stack);
  uint32_t site_of(const NewSample& sample);
  void count_free(uint32_t site, uint32_t stack);
  bool is_stale(const PlumbWatchBlock& block, uint64_t now) const;
  bool may_be_leaked(const PlumbWatchBlock& block, uint64_t now) const;
  void release_placed(uint32_t index, uint32_t free_stack);
  void release_deferred();
  void count_in_sums(const PlumbWatchBlock& block, int sign);
  void part(uint32_t index, uint64_t time);
  void settle_parted(uint64_t time);
  void note_rest(const PlumbWatchBlock& block, uint64_t now);
  uint64_t longest_rest(uint32_t site) const;
  uint64_t time_to_tidy_up(uint64_t now) const;
  size_t large_slot(uint64_t address) const;
  void erase_large(size_t slot);
  void drop_saved();
  bool any_placed() const;

  SpinLock lock_;
  Arena arena_;
  Random random_;
  uint64_t now_ = 0;
  bool clock_stands_ = false;
  uint32_t search_ = PLUMB_WATCH_NOT_SEARCHED;
  uint64_t inherited_ = 0;
  uint64_t mean_ = 0;
  uint64_t most_per_second_ = 0;
  uint64_t drawn_since_ = 0;
  uint32_t drawn_ = 0;
  uint64_t epoch_ = 0;
  uint32_t limits_ = 0;

  Sample* samples_ = nullptr;
  uint32_t samples_used_ = 1;  // 0 is none
  uint32_t unused_samples_ = 0;
  uint32_t deferred_ = 0;
  uint32_t live_ = 0;
  uint32_t first_parted_ = 0;  // the oldest
  uint32_t last_parted_ = 0;
  uint32_t parted_count_ = 0;
  uint32_t* sample_of_window_ = nullptr;
  uint32_t* large_ = nullptr;  // sample by hash of the address
  uint32_t large_count_ = 0;

  PlumbWatchSite* sites_ = nullptr;
  LateRests* late_rests_ = nullptr;  // by site
  uint32_t sites_used_ = 1;          // 0 is "unknown"
  float* curves_ = nullptr;          // PLUMB_WATCH_POINTS for each site
  PlumbWatchFree* frees_ = nullptr;  // one after the other
  uint16_t* free_slots_ = nullptr;   // where each is, plus one, by hash
  uint32_t frees_used_ = 0;
  PlumbWatchPoint points_[PLUMB_WATCH_POINTS];
  uint32_t points_used_ = 0;
  uint64_t point_distance_ = 0;
  uint64_t touch_count_ = 0;
  Range saved_{};
  Range spare_{};  // addresses for it, when the program has none left
};

Model& model();

template <typename Touched>
void Model::note_touches(size_t first, size_t end, Touched touched) {
  lock_.lock();
  const uint64_t time = now();
  for (size_t window = first; window < end; ++window) {
    const uint32_t index = sample_of_window_[window];
    if (index == 0) continue;
    Sample& sample = samples_[index];
    const uintptr_t begin = page_down(sample.address);
    if (!touched(begin, page_up(sample.address + sample.usable))) continue;
    if (is_stale(sample.block, time)) ++sites_[sample.block.site].revived;
    note_rest(sample.block, time);
    sample.block.last = time;
    ++sample.block.touches;
    ++touch_count_;
  }
  lock_.unlock();
}

}  // namespace plumb::rt
