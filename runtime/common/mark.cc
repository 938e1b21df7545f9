#include "common/mark.h"

#include "common/safe_copy.h"

namespace plumb::rt {

uintptr_t pointer_mask = 0;

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

uint32_t Marker::find(uintptr_t value) const {
  const uint32_t index = index_.find(value);
  if (__builtin_expect(pointer_mask == 0, 1) || index != 0) return index;
  return index_.find(value & pointer_mask);
}

void Marker::note_slowly(uintptr_t value) {
  if (const uint32_t index = find(value); index != 0) note_block(index);
}

void Marker::note(uintptr_t value) {
  if (!index_.may_refer(value)) {
    if (__builtin_expect(pointer_mask != 0, 0)) note_slowly(value);
    return;
  }
  if (__builtin_expect(index_.custom_count() != 0 || pointer_mask != 0, 0)) {
    note_slowly(value);
    return;
  }
  const BlockIndex::Candidate candidate = index_.look(value);
  if (candidate.start != 0) {
    index_.prefetch(candidate);
    __builtin_prefetch(reinterpret_cast<const void*>(candidate.start));
    if (starts_end_ - starts_begin_ == kWaiting) take_start();
    starts_[starts_end_++ % kWaiting] = {candidate.start, value};
  } else if (candidate.index != 0) {
    note_index(candidate.index, value);
  }
}

void Marker::note_all(const uintptr_t* words, size_t count) {
  constexpr size_t kAhead = 8;
  for (size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) index_.prefetch_page(words[i + kAhead]);
    note(words[i]);
  }
}

void Marker::take_start() {
  const WaitingStart& waiting = starts_[starts_begin_++ % kWaiting];
  if (const uint32_t index = table_.find_start(waiting.start); index != 0) {
    note_index(index, waiting.value);
  }
}

void Marker::note_index(uint32_t index, uintptr_t value) {
  __builtin_prefetch(&table_.entry(index), 1);
  if (indices_end_ - indices_begin_ == kWaiting) take_index();
  indices_[indices_end_++ % kWaiting] = {index, value};
}

void Marker::take_index() {
  const WaitingIndex& waiting = indices_[indices_begin_++ % kWaiting];
  const PlumbBlock& block = table_.entry(waiting.index);
  if (waiting.value - block.address > index_.extent(block)) return;
  if ((block.address ^ waiting.value) >> 12 == 0)
    index_.set_done(block.address);
  else
    index_.set_covering_done(waiting.value);
  note_block(waiting.index);
}

void Marker::note_waiting() {
  while (starts_begin_ != starts_end_) take_start();
  while (indices_begin_ != indices_end_) take_index();
}

void Marker::note_block(uint32_t index) {
  PlumbBlock& block = table_.entry(index);
  if (block.state != PLUMB_BLOCK_LIVE) return;
  block.state = PLUMB_BLOCK_REACHABLE;
  pending_[pending_count_++] = index;
}

// The block's contents without the custom blocks in it: they are reached, or lost,
// by themselves.
template <typename Use>
void Marker::for_each_own_piece(const PlumbBlock& block, Use use) {
  uintptr_t at = block.address;
  const uintptr_t end = at + index_.extent(block);
  if (index_.custom_count() != 0 && (block.flags & PLUMB_BLOCK_CUSTOM) == 0) {
    for (size_t i = index_.first_custom(at); i < index_.custom_count(); ++i) {
      const Range custom = index_.custom_range(i);
      if (custom.begin >= end) break;
      if (custom.begin > at) for_each_piece({at, custom.begin}, use);
      if (custom.end > at) at = custom.end;
    }
  }
  if (at < end) for_each_piece({at, end}, use);
}

void Marker::drain() {
  while (true) {
    if (pending_count_ == 0) note_waiting();
    if (pending_count_ == 0) return;
    const uint32_t index = pending_[--pending_count_];
    const PlumbBlock& block = table_.entry(index);
    scanned_ += index_.extent(block);
    for_each_own_piece(block,
                       [this](const uintptr_t* words, size_t count) { note_all(words, count); });
    if ((block.flags & PLUMB_BLOCK_CUSTOM) != 0) {
      if (const uint32_t around = index_.connected(index, 0); around != 0) note_block(around);
    }
  }
}

void Marker::mark_value(uintptr_t value) {
  note(value);
  drain();
}

void Marker::mark_range(Range range) {
  for_each_piece(range, [this](const uintptr_t* words, size_t count) {
    note_all(words, count);
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
      const uint32_t index = find(words[i]);
      if (index != 0 && table_.entry(index).state == PLUMB_BLOCK_LIVE) return index;
    }
    // What could not be read is skipped.
    visit.from_word = (stop - block.address) / kWord;
    at = stop;
  }
  while (const uint32_t index = index_.connected(visit.block, visit.connected)) {
    ++visit.connected;
    if (table_.entry(index).state == PLUMB_BLOCK_LIVE) return index;
  }
  return 0;
}

void Marker::order_from(uint32_t start) {
  size_t depth = 0;
  table_.entry(start).state = PLUMB_BLOCK_SEEN;
  path_[depth++] = {start, 0, 0};
  while (depth != 0) {
    const uint32_t child = next_lost(path_[depth - 1]);
    if (child != 0) {
      table_.entry(child).state = PLUMB_BLOCK_SEEN;
      path_[depth++] = {child, 0, 0};
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
    const uint32_t index = pending_[--pending_count_];
    const PlumbBlock& block = table_.entry(index);
    const auto claim = [this, leader](uint32_t held) {
      if (held == 0 || table_.entry(held).state != PLUMB_BLOCK_SEEN) return;
      table_.entry(held).state = PLUMB_BLOCK_INDIRECT;
      table_.entry(held).leader = leader;
      pending_[pending_count_++] = held;
    };
    for_each_piece({block.address, block.address + index_.extent(block)},
                   [this, claim](const uintptr_t* words, size_t count) {
                     for (size_t i = 0; i < count; ++i) claim(find(words[i]));
                   });
    for (uint32_t i = 0; const uint32_t held = index_.connected(index, i); ++i) claim(held);
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
