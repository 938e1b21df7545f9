#include "common/mark.h"

#include "common/safe_copy.h"

namespace plumb::rt {

namespace {

constexpr size_t kWord = sizeof(uintptr_t);
constexpr size_t kChunk = 4096;

// Calls use(words, count) for pieces of the range; unreadable pages are skipped.
template <typename Use>
void for_each_piece(Range range, Use use) {
  uintptr_t words[kChunk / kWord];
  uintptr_t at = (range.begin + kWord - 1) & ~(kWord - 1);
  while (at + kWord <= range.end) {
    // Pieces end at page bounds: a fault costs the rest of one page at most.
    uintptr_t stop = page_down(at) + kChunk;
    if (stop > range.end) stop = range.end;
    const size_t got =
        safe_copy(words, reinterpret_cast<const void*>(at), (stop - at) & ~(kWord - 1));
    use(words, got / kWord);
    at = stop < range.end ? stop : range.end;
  }
}

}  // namespace

bool Marker::prepare() {
  capacity_ = table_.end();
  pending_ = static_cast<uint32_t*>(own_pages(capacity_ * sizeof *pending_ + kPage));
  return pending_ != nullptr;
}

void Marker::release() {
  if (pending_ != nullptr) release_own_pages(pending_, capacity_ * sizeof *pending_ + kPage);
  if (path_ != nullptr) release_own_pages(path_, (lost_ + 1) * sizeof *path_);
  if (order_ != nullptr) release_own_pages(order_, (lost_ + 1) * sizeof *order_);
  pending_ = nullptr;
  path_ = nullptr;
  order_ = nullptr;
}

void Marker::note(uintptr_t value) {
  const uint32_t index = index_.find(value);
  if (index == 0) return;
  PlumbBlock& block = table_.entry(index);
  if (block.state != PLUMB_BLOCK_LIVE) return;
  block.state = PLUMB_BLOCK_REACHABLE;
  pending_[pending_count_++] = index;
}

void Marker::drain() {
  while (pending_count_ != 0) {
    const PlumbBlock& block = table_.entry(pending_[--pending_count_]);
    const uint64_t size = index_.extent(block);
    scanned_ += size;
    for_each_piece({block.address, block.address + size},
                   [this](const uintptr_t* words, size_t count) {
                     for (size_t i = 0; i < count; ++i) note(words[i]);
                   });
  }
}

void Marker::mark_value(uintptr_t value) {
  note(value);
  drain();
}

void Marker::mark_range(Range range) {
  for_each_piece(range, [this](const uintptr_t* words, size_t count) {
    for (size_t i = 0; i < count; ++i) note(words[i]);
    drain();
  });
}

// The next lost block that nobody has seen, from visit.from_word on; 0 at the
// end of the block.
uint32_t Marker::next_lost(Visit& visit) {
  const PlumbBlock& block = table_.entry(visit.block);
  const Range rest{block.address + visit.from_word * kWord, block.address + index_.extent(block)};
  uintptr_t words[32];
  for (uintptr_t at = rest.begin; at + kWord <= rest.end;) {
    uintptr_t stop = at + sizeof words < rest.end ? at + sizeof words : rest.end;
    if (page_down(at) + kChunk < stop) stop = page_down(at) + kChunk;
    const size_t got =
        safe_copy(words, reinterpret_cast<const void*>(at), (stop - at) & ~(kWord - 1)) / kWord;
    for (size_t i = 0; i < got; ++i) {
      ++visit.from_word;
      const uint32_t index = index_.find(words[i]);
      if (index != 0 && table_.entry(index).state == PLUMB_BLOCK_LIVE) return index;
    }
    // What could not be read is skipped.
    visit.from_word = (stop - block.address) / kWord;
    at = stop;
  }
  return 0;
}

void Marker::order_from(uint32_t start) {
  size_t depth = 0;
  table_.entry(start).state = PLUMB_BLOCK_SEEN;
  path_[depth++] = {start, 0};
  while (depth != 0) {
    const uint32_t child = next_lost(path_[depth - 1]);
    if (child != 0) {
      table_.entry(child).state = PLUMB_BLOCK_SEEN;
      path_[depth++] = {child, 0};
    } else {
      order_[ordered_++] = path_[--depth].block;
    }
  }
}

void Marker::claim_from(uint32_t leader) {
  PlumbBlock& head = table_.entry(leader);
  head.state = PLUMB_BLOCK_DIRECT;
  head.leader = leader;
  pending_[pending_count_++] = leader;
  while (pending_count_ != 0) {
    const PlumbBlock& block = table_.entry(pending_[--pending_count_]);
    for_each_piece({block.address, block.address + index_.extent(block)},
                   [this, leader](const uintptr_t* words, size_t count) {
                     for (size_t i = 0; i < count; ++i) {
                       const uint32_t index = index_.find(words[i]);
                       if (index == 0) continue;
                       PlumbBlock& child = table_.entry(index);
                       if (child.state != PLUMB_BLOCK_SEEN) continue;
                       child.state = PLUMB_BLOCK_INDIRECT;
                       child.leader = leader;
                       pending_[pending_count_++] = index;
                     }
                   });
  }
}

bool Marker::sort_out_lost() {
  for (uint32_t index = 1; index < table_.end(); ++index) {
    if (table_.entry(index).state == PLUMB_BLOCK_LIVE) ++lost_;
  }
  if (lost_ == 0) return true;
  path_ = static_cast<Visit*>(own_pages((lost_ + 1) * sizeof *path_));
  order_ = static_cast<uint32_t*>(own_pages((lost_ + 1) * sizeof *order_));
  if (path_ == nullptr || order_ == nullptr) return false;
  for (uint32_t index = 1; index < table_.end(); ++index) {
    if (table_.entry(index).state == PLUMB_BLOCK_LIVE) order_from(index);
  }
  while (ordered_ != 0) {
    const uint32_t index = order_[--ordered_];
    if (table_.entry(index).state == PLUMB_BLOCK_SEEN) claim_from(index);
  }
  return true;
}

}  // namespace plumb::rt
