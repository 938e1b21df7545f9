#include "watch/snapshot_writer.h"

#include "common/memory.h"
#include "common/process.h"
#include "common/sys.h"
#include "common/text.h"
#include "common/trace_file.h"
#include "watch/model.h"

namespace plumb::rt {

namespace {

constexpr PlumbSectionKind kKept[] = {PLUMB_SECTION_MODULES, PLUMB_SECTION_STRINGS,
                                      PLUMB_SECTION_STACKS};

uint64_t used_bytes(const PlumbSection& section) {
  const uint64_t used = __atomic_load_n(&section.used, __ATOMIC_ACQUIRE);
  return (used < section.capacity ? used : section.capacity) * section.item_size;
}

// All that the trace could need, with room for what comes in meanwhile.
uint64_t trace_room() {
  uint64_t room = sizeof(PlumbTraceHeader) + 64;
  for (PlumbSectionKind kind : kKept) room += used_bytes(trace().header().sections[kind]) + 64;
  return room;
}

uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

}  // namespace

template <typename T>
T* Snapshot::section(PlumbWatchSectionKind kind, uint64_t count) {
  auto* header = reinterpret_cast<PlumbWatchHeader*>(begin_);
  size_ = (size_ + 7) & ~size_t{7};
  header->sections[kind] = {size_, count, count, sizeof(T), 0};
  T* items = reinterpret_cast<T*>(begin_ + size_);
  size_ += count * sizeof(T);
  return items;
}

Snapshot::Snapshot(const SnapshotFacts& facts) {
  Model& m = model();
  room_ = sizeof(PlumbWatchHeader) + 4096;
  if (m.samples_ != nullptr) {
    m.lock_.lock();
    // The tables may grow until we have the lock again.
    counts_ = {m.sites_used_ + 64, m.live_ + 1024, m.frees_used_ + 256};
    m.lock_.unlock();
    room_ += size_t{counts_.sites} * (sizeof(PlumbWatchSite) + 4 * PLUMB_WATCH_POINTS) +
             size_t{counts_.blocks} * sizeof(PlumbWatchBlock) +
             size_t{counts_.frees} * sizeof(PlumbWatchFree) + sizeof m.points_ + trace_room() +
             (64 << 10);
  }
  begin_ = static_cast<char*>(own_pages(room_));
  if (begin_ == nullptr) return;
  auto& header = *reinterpret_cast<PlumbWatchHeader*>(begin_);
  size_ = sizeof header;
  __builtin_memcpy(header.magic, PLUMB_WATCH_MAGIC, sizeof header.magic);
  header.version = PLUMB_WATCH_VERSION;
  header.header_size = sizeof header;
  header.pid = static_cast<uint32_t>(sys_getpid());
  header.phase = facts.phase;
  header.limits = m.limits();
  header.search = m.search_outcome();
  header.elapsed = facts.elapsed;
  header.started = facts.started;
  header.epoch = facts.epoch;
  header.epochs = facts.epochs;
  header.mean = m.mean();
  header.own_time = facts.own_time;
  header.touch_count = m.touch_count_;
  copy_text(header.problem_text, sizeof header.problem_text, facts.problem);
  sys_read_small("/proc/self/cmdline", header.command, sizeof header.command);
  if (m.samples_ == nullptr) return;
  put_blocks();
  put_trace();
}

Snapshot::~Snapshot() {
  if (begin_ != nullptr) release_own_pages(begin_, room_);
}

void Snapshot::put_blocks() {
  Model& m = model();
  m.lock_.lock();
  // No sample is younger.
  reinterpret_cast<PlumbWatchHeader*>(begin_)->now = m.now();
  const uint32_t site_count = smaller(m.sites_used_, counts_.sites);
  const uint32_t points = m.points_used_;
  auto* sites = section<PlumbWatchSite>(PLUMB_WATCH_SITES, site_count);
  const bool ended = reinterpret_cast<PlumbWatchHeader*>(begin_)->phase == PLUMB_WATCH_ENDED;
  for (uint32_t i = 0; i < site_count; ++i) {
    sites[i] = m.sites_[i];
    if (!ended) sites[i].longest_rest = m.longest_rest(i);
  }
  auto* history = section<PlumbWatchPoint>(PLUMB_WATCH_HISTORY, points);
  for (uint32_t i = 0; i < points; ++i) history[i] = m.points_[i];
  float* curves = section<float>(PLUMB_WATCH_CURVES, uint64_t{site_count} * points);
  for (uint32_t s = 0; s < site_count; ++s) {
    for (uint32_t p = 0; p < points; ++p) {
      *curves++ = m.curves_[size_t{s} * PLUMB_WATCH_POINTS + p];
    }
  }
  const uint32_t live = smaller(m.live_, counts_.blocks);
  auto* blocks = section<PlumbWatchBlock>(PLUMB_WATCH_BLOCKS, live);
  uint32_t put = 0;
  for (uint32_t i = 1; i < m.samples_used_ && put < live; ++i) {
    if (m.samples_[i].alive != 0) blocks[put++] = m.samples_[i].block;
  }
  const uint32_t free_count = smaller(m.frees_used_, counts_.frees);
  auto* frees = section<PlumbWatchFree>(PLUMB_WATCH_FREES, free_count);
  for (uint32_t i = 0; i < free_count; ++i) frees[i] = m.frees_[i];
  m.lock_.unlock();
}

// Modules and stacks only grow; what comes in while we copy is not referred to.
void Snapshot::put_trace() {
  const PlumbTraceHeader& source = trace().header();
  const uint64_t room = trace_room();
  size_ = (size_ + 7) & ~size_t{7};
  if (size_ + room > room_) return;
  char* begin = begin_ + size_;
  auto& header = *reinterpret_cast<PlumbTraceHeader*>(begin);
  header = source;
  size_t used = sizeof header;
  for (int kind = 0; kind < PLUMB_SECTION_COUNT; ++kind) {
    header.sections[kind] = {0, 0, 0, source.sections[kind].item_size, 0};
  }
  for (PlumbSectionKind kind : kKept) {
    const PlumbSection& from = source.sections[kind];
    used = (used + 7) & ~size_t{7};
    uint64_t bytes = used_bytes(from);
    if (used + bytes > room) bytes = (room - used) / from.item_size * from.item_size;
    header.sections[kind] = {used, bytes / from.item_size, bytes / from.item_size, from.item_size,
                             0};
    __builtin_memcpy(begin + used, reinterpret_cast<const char*>(&source) + from.offset, bytes);
    used += bytes;
  }
  section<char>(PLUMB_WATCH_TRACE, used);
}

}  // namespace plumb::rt
