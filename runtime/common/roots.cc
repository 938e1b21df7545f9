#include "common/roots.h"

#include "common/sys.h"

namespace plumb::rt {

namespace {

// Heap sort: no memory, no worst case.
void sift_down(Range* items, size_t start, size_t end) {
  for (size_t root = start; 2 * root + 1 < end;) {
    size_t child = 2 * root + 1;
    if (child + 1 < end && items[child].begin < items[child + 1].begin) ++child;
    if (items[root].begin >= items[child].begin) return;
    const Range item = items[root];
    items[root] = items[child];
    items[child] = item;
    root = child;
  }
}

void sort(Range* items, size_t count) {
  for (size_t start = count / 2; start-- > 0;) sift_down(items, start, count);
  for (size_t end = count; end > 1; --end) {
    const Range item = items[0];
    items[0] = items[end - 1];
    items[end - 1] = item;
    sift_down(items, 0, end - 1);
  }
}

bool is_root(const Mapping& mapping) {
  if (!mapping.readable || mapping.special) return false;
  // Anonymous memory may have been made read-only after it was filled; files
  // are read-only from the start.
  return mapping.writable || (mapping.anonymous && !mapping.shared);
}

// In /proc/PID/pagemap: present, or swapped out.
constexpr uint64_t kTouched = (uint64_t{1} << 63) | (uint64_t{1} << 62);
constexpr size_t kBatch = 512;  // pages asked about at once

}  // namespace

void normalise(OwnVector<Range>& ranges) {
  if (ranges.size() == 0) return;
  sort(ranges.begin(), ranges.size());
  size_t kept = 0;
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin <= ranges[kept].end) {
      if (ranges[i].end > ranges[kept].end) ranges[kept].end = ranges[i].end;
    } else {
      ranges[++kept] = ranges[i];
    }
  }
  while (ranges.size() > kept + 1) ranges.pop();
}

void RootWalk::visit_touched(const Mapping& mapping, Range range, int pagemap, Visit visitor,
                             void* context) {
  uint64_t entries[kBatch];
  unsigned char resident[kBatch];
  Range run{};
  for (uintptr_t page = page_down(range.begin); page < range.end; page += kBatch * kPage) {
    const uintptr_t left = (page_up(range.end) - page) / kPage;
    const size_t count = left < kBatch ? left : kBatch;
    const bool known = pagemap >= 0 && sys_pread(pagemap, entries, count * 8, page / kPage * 8) ==
                                           static_cast<long>(count * 8);
    // Shared pages live in the file as well as in our page table.
    const bool look_in_file = mapping.shared && sys_call(SYS_mincore, static_cast<long>(page),
                                                         static_cast<long>(count * kPage),
                                                         reinterpret_cast<long>(resident)) == 0;
    for (size_t i = 0; i < count; ++i) {
      const bool touched = !known || (entries[i] & kTouched) != 0 ||
                           (mapping.shared && (!look_in_file || (resident[i] & 1) != 0));
      if (!touched) continue;
      Range piece{page + i * kPage, page + (i + 1) * kPage};
      if (piece.begin < range.begin) piece.begin = range.begin;
      if (piece.end > range.end) piece.end = range.end;
      if (run.end == piece.begin) {
        run.end = piece.end;
      } else {
        if (run.end != 0) visitor(context, run);
        run = piece;
      }
    }
  }
  if (run.end != 0) visitor(context, run);
}

void RootWalk::visit(Visit visitor, void* context) {
  const int pagemap = sys_open("/proc/thread-self/pagemap");
  size_t next = 0;  // first exclusion that may matter
  for (size_t i = 0; i < mappings_.size(); ++i) {
    const Mapping& mapping = mappings_[i];
    if (!is_root(mapping)) continue;
    uintptr_t at = mapping.range.begin;
    while (next < excluded_.size() && excluded_[next].end <= at) ++next;
    for (size_t k = next; k < excluded_.size() && excluded_[k].begin < mapping.range.end; ++k) {
      if (excluded_[k].begin > at) {
        visit_touched(mapping, {at, excluded_[k].begin}, pagemap, visitor, context);
      }
      if (excluded_[k].end > at) at = excluded_[k].end;
    }
    if (at < mapping.range.end) {
      visit_touched(mapping, {at, mapping.range.end}, pagemap, visitor, context);
    }
  }
  if (pagemap >= 0) sys_close(pagemap);
}

}  // namespace plumb::rt
