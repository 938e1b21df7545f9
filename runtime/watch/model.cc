#include "watch/model.h"

#include <time.h>

#include "common/stack_depot.h"
#include "common/sys.h"
#include "common/trace_file.h"

namespace plumb::rt {

namespace {

Model the_model;

constexpr uint32_t kMaxSamples = 1u << 17;
constexpr uint32_t kMaxSites = 1u << 14;
constexpr uint32_t kLargeSlots = 1u << 14;
// A program may take so long to tidy up: two epochs, this part of the run, and so
// much time at least.
constexpr uint64_t kTidyShare = 20;
constexpr uint64_t kTidyTime = 100'000'000;
constexpr uint32_t kMostParted = 1u << 14;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint32_t kDrawnAtOnce = 64;
constexpr uint64_t kSpare = uint64_t{64} << 20;

long map_pages(uintptr_t place, size_t size, int protection) {
  return sys_mmap(reinterpret_cast<void*>(place), size, protection,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (place != 0 ? MAP_FIXED : 0), -1,
                  0);
}

uint64_t spread(uint64_t value) { return value * 0x9e3779b97f4a7c15u; }

template <typename T>
bool get_table(T*& table, size_t count) {
  table = static_cast<T*>(own_pages(count * sizeof(T)));
  return table != nullptr;
}

}  // namespace

Model& model() { return the_model; }

bool Model::prepare(uint64_t epoch) {
  epoch_ = epoch;
  point_distance_ = epoch;
  random_.seed(sys_nanoseconds());
  const uint64_t share = address_limit() / 64;
  const size_t spare = share < kSpare ? page_down(share) : kSpare;
  if (const long place = map_pages(0, spare, PROT_NONE); !is_error(place)) {
    spare_ = {static_cast<uintptr_t>(place), static_cast<uintptr_t>(place) + spare};
  }
  // The samples last: where they are, everything is.
  return arena_.prepare() && get_table(sample_of_window_, arena_.capacity()) &&
         get_table(large_, kLargeSlots) && get_table(sites_, kMaxSites) &&
         get_table(late_rests_, kMaxSites) &&
         get_table(curves_, size_t{kMaxSites} * PLUMB_WATCH_POINTS) &&
         get_table(frees_, kMostFrees) && get_table(free_slots_, kFreeSlots) &&
         arena_.take(1) == 0 && get_table(samples_, kMaxSamples);
}

// The site's number is kept with its stack. The lock is held.
uint32_t Model::site_of(const NewSample& sample) {
  if (sample.stack == 0) return 0;
  PlumbStack& stack = *reinterpret_cast<PlumbStack*>(trace().stack_words() + sample.stack);
  if (stack.reserved == 0) {
    if (sites_used_ == kMaxSites) {
      limit(PLUMB_WATCH_SITES_FULL);
      return 0;
    }
    stack.reserved = sites_used_++;
    sites_[stack.reserved].stack = sample.stack;
    sites_[stack.reserved].api = sample.api;
  }
  return stack.reserved;
}

// The watching thread steers the mean by what was allocated, but it may have to wait
// for a processor; until then a program that allocates a lot would pay for it.
void Model::hold_back(uint64_t time) {
  if (++drawn_ < kDrawnAtOnce) return;
  if (time - drawn_since_ < kDrawnAtOnce * kSecond / most_per_second_) set_mean(mean() * 2);
  drawn_ = 0;
  drawn_since_ = time;
}

uint32_t Model::new_sample(const NewSample& sample) {
  uint32_t index = unused_samples_;
  if (index != 0)
    unused_samples_ = samples_[index].next;
  else if (samples_used_ < kMaxSamples)
    index = samples_used_++;
  else
    return 0;
  const uint64_t time = advance();
  hold_back(time);
  Sample& record = samples_[index];
  record = {};
  record.block.size = sample.size;
  record.block.mean = sample.mean;
  record.block.birth = record.block.last = time;
  record.block.site = site_of(sample);
  record.alive = 1;
  PlumbWatchSite& site = sites_[record.block.site];
  const double weight = sample_weight(sample.size, sample.mean);
  ++site.allocated_samples;
  site.allocated_blocks += weight;
  site.allocated_bytes += weight * static_cast<double>(sample.size);
  ++live_;
  return index;
}

void Model::count_free(uint32_t site, uint32_t stack) {
  if (stack == 0) return;
  size_t slot = spread((uint64_t{site} << 32) | stack) >> (64 - kFreeBits);
  for (size_t tries = 0; tries < 16; ++tries, slot = (slot + 1) % kFreeSlots) {
    if (free_slots_[slot] == 0) {
      if (frees_used_ == kMostFrees) return;
      frees_[frees_used_++] = {site, stack, 0};
      free_slots_[slot] = static_cast<uint16_t>(frees_used_);
    }
    PlumbWatchFree& entry = frees_[free_slots_[slot] - 1];
    if (entry.site == site && entry.stack == stack) {
      ++entry.samples;
      return;
    }
  }
}

bool Model::is_stale(const PlumbWatchBlock& block, uint64_t time) const {
  if ((block.flags & PLUMB_WATCH_OBSERVED) == 0) return false;
  const uint64_t active = block.last - block.birth;
  return time - block.last > PLUMB_WATCH_FACTOR * (active < epoch_ ? epoch_ : active);
}

// As the report will ask it at the earliest.
bool Model::may_be_leaked(const PlumbWatchBlock& block, uint64_t time) const {
  const uint64_t idle = time - block.last;
  return is_stale(block, time) || ((block.flags & PLUMB_WATCH_OBSERVED) != 0 &&
                                   idle > PLUMB_WATCH_FACTOR * epoch_ && idle > time / 10 * 3);
}

void Model::count_in_sums(const PlumbWatchBlock& block, int sign) {
  PlumbWatchSite& site = sites_[block.site];
  const double weight = sample_weight(block.size, block.mean) * sign;
  site.freed_samples += static_cast<uint64_t>(static_cast<int64_t>(sign));
  site.freed_blocks += weight;
  site.freed_bytes += weight * static_cast<double>(block.size);
}

void Model::end_sample(uint32_t index, uint32_t free_stack) {
  Sample& record = samples_[index];
  const uint64_t time = now();
  PlumbWatchSite& site = sites_[record.block.site];
  count_in_sums(record.block, 1);
  const uint64_t lifetime = time - record.block.birth;
  site.lifetime_sum += lifetime;
  if (lifetime > site.lifetime_max) site.lifetime_max = lifetime;
  count_free(record.block.site, free_stack);
  record.alive = 0;
  --live_;
  if ((record.block.flags & PLUMB_WATCH_OBSERVED) != 0) note_rest(record.block, time);
  if (may_be_leaked(record.block, time)) {
    part(index, time);
    return;
  }
  record.next = unused_samples_;
  unused_samples_ = index;
}

void Model::part(uint32_t index, uint64_t time) {
  settle_parted(time);
  Sample& record = samples_[index];
  record.address = time;
  record.next = 0;
  if (last_parted_ != 0)
    samples_[last_parted_].next = index;
  else
    first_parted_ = index;
  last_parted_ = index;
  ++parted_count_;
}

uint64_t Model::time_to_tidy_up(uint64_t time) const {
  uint64_t most = time / kTidyShare;
  if (most < 2 * epoch_) most = 2 * epoch_;
  return most < kTidyTime ? kTidyTime : most;
}

void Model::note_rest(const PlumbWatchBlock& block, uint64_t time) {
  const uint64_t rest = time - block.last;
  PlumbWatchSite& site = sites_[block.site];
  if (rest <= site.longest_rest) return;
  LateRests& late = late_rests_[block.site];
  if (time - late.begin > time_to_tidy_up(time)) {
    if (late.older > site.longest_rest) site.longest_rest = late.older;
    late = {time, 0, late.younger};
  }
  if (rest > late.younger) late.younger = rest;
}

uint64_t Model::longest_rest(uint32_t site) const {
  const LateRests& late = late_rests_[site];
  const uint64_t lately = late.younger > late.older ? late.younger : late.older;
  const uint64_t longest = sites_[site].longest_rest;
  return lately > longest ? lately : longest;
}

// Those whose program went on after they were freed.
void Model::settle_parted(uint64_t time) {
  const uint64_t kept = time_to_tidy_up(time);
  while (first_parted_ != 0) {
    const uint32_t index = first_parted_;
    Sample& record = samples_[index];
    if (time - record.address <= kept && parted_count_ < kMostParted) return;
    if (is_stale(record.block, record.address)) ++sites_[record.block.site].freed_stale;
    first_parted_ = record.next;
    if (first_parted_ == 0) last_parted_ = 0;
    --parted_count_;
    record.next = unused_samples_;
    unused_samples_ = index;
  }
}

void Model::take_back_parted() {
  lock_.lock();
  settle_parted(now());
  for (uint32_t index = first_parted_; index != 0; index = samples_[index].next) {
    Sample& record = samples_[index];
    count_in_sums(record.block, -1);
    record.block.flags |= PLUMB_WATCH_PARTED;
    record.windows = 0;
    record.alive = 1;
    ++live_;
  }
  first_parted_ = last_parted_ = parted_count_ = 0;
  lock_.unlock();
}

void* Model::place(Inside&, const NewSample& sample) {
  const size_t usable = usable_size_for(sample.size);
  const size_t pages = page_up(usable);
  const size_t windows = (pages + kWindow - 1) / kWindow;
  const size_t step = sample.alignment < 16 ? 16 : sample.alignment;
  lock_.lock();
  release_deferred();
  const long window = arena_.take(windows);
  const uint32_t index = window < 0 ? 0 : new_sample(sample);
  if (index == 0) {
    if (window >= 0) arena_.give(static_cast<size_t>(window), windows, 0);
    lock_.unlock();
    limit(PLUMB_WATCH_ARENA_FULL);
    return nullptr;
  }
  // Somewhere in the page: blocks at equal offsets would meet in the cache.
  const size_t offset = step >= kPage ? 0 : random_.next() % ((pages - usable) / step + 1) * step;
  const size_t place = static_cast<size_t>(window);
  const bool dirty = arena_.is_dirty(place);
  Sample& record = samples_[index];
  record.address = arena_.address(place) + offset;
  record.windows = static_cast<uint32_t>(windows);
  record.usable = static_cast<uint32_t>(usable);
  record.block.flags = PLUMB_WATCH_OBSERVED;
  sample_of_window_[place] = index;
  void* block = reinterpret_cast<void*>(record.address);
  lock_.unlock();
  if (sample.zeroed && dirty) __builtin_memset(block, 0, usable);
  return block;
}

size_t Model::size_of(const void* block) const {
  const uint32_t index = sample_of_window_[arena_.window_of(reinterpret_cast<uintptr_t>(block))];
  return samples_[index].usable;
}

uint32_t Model::sample_around(uintptr_t address) const {
  const size_t window = arena_.window_of(address);
  for (size_t back = 0; back < kMostWindows && back <= window; ++back) {
    const uint32_t index = sample_of_window_[window - back];
    if (index == 0) continue;
    return address - samples_[index].address <= samples_[index].usable ? index : 0;
  }
  return 0;
}

// Without the lock: two words, and if the block goes meanwhile, they are nobody's.
void Model::note_access(Inside&, const void* address, uint32_t stack, uint32_t burst) {
  const uint32_t index = sample_around(reinterpret_cast<uintptr_t>(address));
  if (index == 0) return;
  __atomic_store_n(&samples_[index].block.access, stack, __ATOMIC_RELAXED);
  __atomic_store_n(&samples_[index].block.burst, burst, __ATOMIC_RELAXED);
}

void Model::release(Inside&, void* block, uint32_t free_stack) {
  const size_t window = arena_.window_of(reinterpret_cast<uintptr_t>(block));
  lock_.lock();
  const uint32_t index = sample_of_window_[window];
  // A double free finds nothing, or another block: glibc would end the program.
  if (index != 0 && samples_[index].address == reinterpret_cast<uintptr_t>(block)) {
    release_placed(index, free_stack);
  }
  release_deferred();
  lock_.unlock();
}

// Its record may be another's, or hold something else, after its end. The lock is held.
void Model::release_placed(uint32_t index, uint32_t free_stack) {
  const Sample& sample = samples_[index];
  const size_t windows = sample.windows;
  const size_t window = arena_.window_of(sample.address);
  const size_t written = sample.address + sample.usable - arena_.address(window);
  sample_of_window_[window] = 0;
  end_sample(index, free_stack);
  arena_.give(window, windows, written);
}

// A signal handler frees while this thread holds the lock.
void Model::release_later(void* block) {
  const size_t window = arena_.window_of(reinterpret_cast<uintptr_t>(block));
  const uint32_t index = sample_of_window_[window];
  if (index == 0) return;
  uint32_t head = __atomic_load_n(&deferred_, __ATOMIC_RELAXED);
  do samples_[index].next = head;
  while (!__atomic_compare_exchange_n(&deferred_, &head, index, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED));
}

// The lock is held.
void Model::release_deferred() {
  uint32_t index = __atomic_exchange_n(&deferred_, 0, __ATOMIC_ACQUIRE);
  while (index != 0) {
    const uint32_t next = samples_[index].next;
    release_placed(index, 0);
    index = next;
  }
}

// --- large blocks: a hash with linear probing, never more than half full

size_t Model::large_slot(uint64_t address) const {
  size_t slot = spread(address) >> (64 - 14);
  while (large_[slot] != 0 && samples_[large_[slot]].address != address) {
    slot = (slot + 1) % kLargeSlots;
  }
  return slot;
}

void Model::note_large(Inside&, const void* block, const NewSample& sample) {
  const uint64_t address = reinterpret_cast<uintptr_t>(block);
  lock_.lock();
  const bool fits = large_count_ < kLargeSlots / 2;
  const size_t slot = large_slot(address);
  // Already there: freed behind our back (by libc itself); the old one goes.
  if (large_[slot] != 0) {
    end_sample(large_[slot], 0);
    erase_large(slot);
  }
  if (const uint32_t index = fits ? new_sample(sample) : 0; index != 0) {
    samples_[index].address = address;
    large_[large_slot(address)] = index;
    ++large_count_;
  } else {
    limit(PLUMB_WATCH_ARENA_FULL);
  }
  lock_.unlock();
}

void Model::erase_large(size_t slot) {
  large_[slot] = 0;
  --large_count_;
  for (size_t at = (slot + 1) % kLargeSlots; large_[at] != 0; at = (at + 1) % kLargeSlots) {
    const uint32_t moved = large_[at];
    large_[at] = 0;
    large_[large_slot(samples_[moved].address)] = moved;
  }
}

bool Model::release_large(Inside&, const void* block, uint32_t free_stack) {
  lock_.lock();
  const size_t slot = large_slot(reinterpret_cast<uintptr_t>(block));
  const uint32_t index = large_[slot];
  if (index != 0) {
    end_sample(index, free_stack);
    erase_large(slot);
  }
  lock_.unlock();
  return index != 0;
}

// --- for the watching thread

uint64_t Model::advance() {
  if (__atomic_load_n(&clock_stands_, __ATOMIC_ACQUIRE)) return now();
  timespec clock{};
  sys_call(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, reinterpret_cast<long>(&clock));
  const uint64_t time = inherited_ + static_cast<uint64_t>(clock.tv_sec) * 1'000'000'000 +
                        static_cast<uint64_t>(clock.tv_nsec);
  uint64_t known = now();
  while (known < time && !__atomic_compare_exchange_n(&now_, &known, time, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED)) {
  }
  return known < time ? time : known;
}

void Model::trim() {
  for (bool done = false; !done;) {
    lock_.lock();
    done = arena_.trim();
    lock_.unlock();
  }
}

void Model::unlock_pages() {
  lock_.lock();
  arena_.unlock_pages();
  lock_.unlock();
}

double Model::live_bytes() {
  double sum = 0;
  lock_.lock();
  for (uint32_t i = 0; i < sites_used_; ++i) {
    sum += sites_[i].allocated_bytes - sites_[i].freed_bytes;
  }
  lock_.unlock();
  return sum;
}

double Model::allocated_bytes() {
  double sum = 0;
  lock_.lock();
  for (uint32_t i = 0; i < sites_used_; ++i) sum += sites_[i].allocated_bytes;
  lock_.unlock();
  return sum;
}

void Model::add_point(uint64_t elapsed) {
  if (points_used_ != 0 && now() - points_[points_used_ - 1].time < point_distance_) return;
  lock_.lock();
  const uint64_t time = now();
  if (points_used_ == PLUMB_WATCH_POINTS) {
    points_used_ /= 2;
    point_distance_ *= 2;
    for (uint32_t p = 0; p < points_used_; ++p) points_[p] = points_[2 * p + 1];
    for (uint32_t s = 0; s < sites_used_; ++s) {
      float* curve = curves_ + size_t{s} * PLUMB_WATCH_POINTS;
      for (uint32_t p = 0; p < points_used_; ++p) curve[p] = curve[2 * p + 1];
    }
  }
  PlumbWatchPoint point{time, elapsed, 0, 0, 0};
  for (uint32_t s = 0; s < sites_used_; ++s) {
    const double bytes = sites_[s].allocated_bytes - sites_[s].freed_bytes;
    curves_[size_t{s} * PLUMB_WATCH_POINTS + points_used_] = static_cast<float>(bytes);
    point.heap_bytes += bytes;
    point.live_blocks += sites_[s].allocated_blocks - sites_[s].freed_blocks;
  }
  for (uint32_t i = 1; i < samples_used_; ++i) {
    const Sample& sample = samples_[i];
    if (sample.alive == 0 || !is_stale(sample.block, time)) continue;
    point.idle_bytes += sample_weight(sample.block.size, sample.block.mean) *
                        static_cast<double>(sample.block.size);
  }
  points_[points_used_++] = point;
  lock_.unlock();
}

// --- the search as the program ends

void Model::stop_clock() {
  advance();
  __atomic_store_n(&clock_stands_, true, __ATOMIC_RELEASE);
}

void Model::begin_search() {
  lock_.lock();
  release_deferred();
}

void Model::end_search(PlumbWatchSearch outcome) {
  search_ = outcome;
  lock_.unlock();
}

Range Model::sample_range(uint32_t index) const {
  const Sample& sample = samples_[index];
  const uint64_t size = sample.windows != 0 ? sample.usable : sample.block.size;
  return {sample.address, sample.address + size};
}

uintptr_t Model::shown_at(uint32_t index) const {
  const Sample& sample = samples_[index];
  if (sample.windows == 0 || !arena_.is_shared()) return sample.address;
  return reinterpret_cast<uintptr_t>(arena_.alias(sample.address));
}

Range Model::other_mapping() const {
  if (!arena_.is_shared()) return {};
  const auto begin = reinterpret_cast<uintptr_t>(arena_.alias(arena_range.begin));
  return {begin, begin + arena_range.size};
}

// --- fork

void Model::prepare_fork() {
  lock_.lock();
  release_deferred();
  size_t size = 0;
  for (uint32_t i = 1; i < samples_used_; ++i) {
    if (samples_[i].alive != 0 && samples_[i].windows != 0) {
      size += sizeof(Saved) + samples_[i].usable;
    }
  }
  saved_ = {};
  if (size == 0 || !arena_.is_shared()) return;
  long place = map_pages(0, size, PROT_READ | PROT_WRITE);
  if (is_error(place) && size <= spare_.size()) {
    place = map_pages(spare_.begin, size, PROT_READ | PROT_WRITE);
  }
  if (is_error(place)) return;
  char* at = reinterpret_cast<char*>(place);
  saved_.begin = static_cast<uintptr_t>(place);
  saved_.end = saved_.begin + size;
  for (uint32_t i = 1; i < samples_used_; ++i) {
    const Sample& sample = samples_[i];
    if (sample.alive == 0 || sample.windows == 0) continue;
    const Saved head{sample.address, sample.usable};
    __builtin_memcpy(at, &head, sizeof head);
    __builtin_memcpy(at + sizeof head, arena_.alias(sample.address), sample.usable);
    at += sizeof head + sample.usable;
  }
}

bool Model::any_placed() const {
  for (uint32_t i = 1; i < samples_used_; ++i) {
    if (samples_[i].alive != 0 && samples_[i].windows != 0) return true;
  }
  return false;
}

// Not through own_pages: another thread may have held its lock at the fork.
void Model::drop_saved() {
  if (saved_.begin == 0) return;
  if (saved_.begin == spare_.begin)
    map_pages(spare_.begin, saved_.size(), PROT_NONE);
  else
    sys_call(SYS_munmap, static_cast<long>(saved_.begin), static_cast<long>(saved_.size()));
  saved_ = {};
}

void Model::after_fork_in_parent() {
  drop_saved();
  lock_.unlock();
}

bool Model::after_fork_in_child(bool watched) {
  if (watched && arena_.is_shared() && saved_.begin == 0 && any_placed()) watched = false;
  if (watched) watched = arena_.make_own();
  // Without a copy (no memory) the blocks stay shared: all that is left.
  if (saved_.begin != 0 && (watched || arena_.make_private())) {
    const char* at = reinterpret_cast<const char*>(saved_.begin);
    const char* end = reinterpret_cast<const char*>(saved_.end);
    while (at < end) {
      Saved head;
      __builtin_memcpy(&head, at, sizeof head);
      __builtin_memcpy(reinterpret_cast<void*>(head.address), at + sizeof head, head.size);
      at += sizeof head + head.size;
    }
  }
  drop_saved();
  lock_.unlock();
  return watched;
}

}  // namespace plumb::rt
