#include "compiled/loss_records.h"

#include <string.h>

#include "common/memory.h"
#include "common/trace_file.h"
#include "compiled/layout.h"
#include "compiled/place_notes.h"
#include "compiled/places.h"

namespace plumb::rt {

namespace {

// Losses already recorded, by place.
struct Known {
  uint32_t place;
  uint32_t loss;
  uint32_t use;
};
constexpr uint32_t kKnown = 1u << 16;
Known* known = nullptr;

PlumbText put_text(const char* text, size_t size) {
  if (text == nullptr || size == 0) return {};
  const uint64_t at = trace().take(PLUMB_SECTION_STRINGS, size);
  if (at == 0) return {};
  __builtin_memcpy(trace().strings() + at, text, size);
  return {static_cast<uint32_t>(at), static_cast<uint32_t>(size)};
}
PlumbText put_text(const int32_t& relative) {
  const char* text = follow<char>(relative);
  return text == nullptr ? PlumbText{} : put_text(text, strlen(text));
}

// A holder's name that is put together; what does not fit is cut off.
class NameText {
 public:
  void add(const char* text) {
    while (text != nullptr && *text != 0 && used_ + 1 < sizeof text_) text_[used_++] = *text++;
  }
  void add(uint64_t number) {
    char digits[24];
    unsigned count = 0;
    do digits[count++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0 && used_ + 1 < sizeof text_) text_[used_++] = digits[--count];
  }
  PlumbText put() const { return put_text(text_, used_); }

 private:
  char text_[256];
  size_t used_ = 0;
};

const char* member_name(const PlumbDetail& detail, uint32_t offset) {
  const PlumbMember* members = follow<PlumbMember>(detail.members);
  if (members == nullptr) return nullptr;
  for (uint32_t i = 0; i < detail.member_count; ++i) {
    if (members[i].offset == offset) return follow<char>(members[i].name);
  }
  return nullptr;
}

// "person->name", "names[3]", "row[2].text"
PlumbText holder_at(const PlumbDetail& detail, uint32_t offset) {
  const char* base = follow<char>(detail.holder);
  if (base == nullptr) return {};
  const char* member = member_name(detail, offset);
  NameText name;
  name.add(base);
  if (offset == kSomewhere) {
    name.add("[...]");
    return name.put();
  }
  if (member != nullptr) {
    name.add(member);
    return name.put();
  }
  if (detail.stride == 0) return {};
  name.add("[");
  name.add(offset / detail.stride);
  name.add("]");
  if (const uint32_t rest = offset % detail.stride; detail.member_count != 0) {
    const char* inner = member_name(detail, rest);
    if (inner == nullptr) return {};
    name.add(".");
    name.add(inner[0] == '-' ? inner + 2 : inner + 1);
  }
  return name.put();
}

constexpr uint32_t kMaxFrames = 64;

void put_frames(PlumbLoss& loss, const PlumbDetail& innermost) {
  uint32_t count = 0;
  for (const PlumbDetail* at = &innermost; at != nullptr && count < kMaxFrames;
       at = follow<PlumbDetail>(at->caller)) {
    ++count;
  }
  const uint64_t first = trace().take(PLUMB_SECTION_FRAMES, count);
  if (first == 0) return;
  auto* frames = trace().items<PlumbNamedFrame>(PLUMB_SECTION_FRAMES) + first;
  const PlumbDetail* at = &innermost;
  for (uint32_t i = 0; i < count; ++i, at = follow<PlumbDetail>(at->caller)) {
    frames[i] = {put_text(at->function), put_text(at->linkage), put_text(at->file), at->line,
                 at->column};
  }
  loss.frames = static_cast<uint32_t>(first);
  loss.frame_count = count;
}

uint32_t put(const PlumbLoss& loss) {
  const uint64_t index = trace().take(PLUMB_SECTION_LOSSES, 1);
  if (index != 0) trace().items<PlumbLoss>(PLUMB_SECTION_LOSSES)[index] = loss;
  return static_cast<uint32_t>(index);
}

// What the function of the place did last with the pointer that it dropped.
uint32_t put_use(uint32_t place) {
  const PlaceNote* note = noted_place(place);
  const PlumbDetail* detail = place_detail(note != nullptr ? note->place : place);
  if (detail == nullptr || detail->use_line == 0) return 0;
  PlumbLoss use{};
  use.what = detail->use_what;
  if (note != nullptr) use.stack = note->stack;
  put_frames(use, *detail);
  if (use.frame_count == 0) return 0;
  PlumbNamedFrame& frame = trace().items<PlumbNamedFrame>(PLUMB_SECTION_FRAMES)[use.frames];
  frame.line = detail->use_line;
  frame.column = detail->use_column;
  return put(use);
}

uint32_t put_loss(uint32_t place) {
  PlumbLoss loss{};
  const PlaceNote* note = noted_place(place);
  const PlumbDetail* detail = place_detail(note != nullptr ? note->place : place);
  if (note == nullptr && detail == nullptr) return 0;
  if (detail != nullptr) {
    loss.cause = detail->cause;
    loss.storage = detail->storage;
    loss.type = put_text(detail->type);
    put_frames(loss, *detail);
  }
  if (note != nullptr) {
    loss.stack = note->stack;
    if (note->cause != PLUMB_CAUSE_NONE) loss.cause = note->cause;
  }
  if (detail != nullptr) {
    const bool whole = detail->member_count == 0 && detail->stride == 0;
    if (!whole)
      loss.holder = holder_at(*detail, note != nullptr ? note->offset : 0);
    else if (note == nullptr || note->cause == PLUMB_CAUSE_NONE)
      loss.holder = put_text(detail->holder);
  }
  return put(loss);
}

Known known_at(uint32_t place) {
  if (place == 0) return {};
  if (known == nullptr) known = static_cast<Known*>(own_pages(kKnown * sizeof *known));
  if (known == nullptr) return {place, put_loss(place), put_use(place)};
  uint32_t slot = place * 0x9e3779b1u >> 16;
  for (unsigned tries = 0; tries < 64; ++tries, slot = (slot + 1) % kKnown) {
    if (known[slot].place == place) return known[slot];
    if (known[slot].place == 0) {
      known[slot] = {place, put_loss(place), put_use(place)};
      return known[slot];
    }
  }
  return {place, put_loss(place), put_use(place)};
}

}  // namespace

void record_loss(uint32_t block, uint32_t place, bool is_own, uint32_t access) {
  const Known at = known_at(place);
  const uint32_t loss = at.loss;
  uint32_t use = known_at(access).loss;
  if (use == 0 && is_own) use = at.use;
  if (loss == 0 && use == 0) return;
  const uint64_t index = trace().take(PLUMB_SECTION_LOST, 1);
  if (index == 0) return;
  trace().items<PlumbLostBlock>(PLUMB_SECTION_LOST)[index] = {block, loss, use};
}

}  // namespace plumb::rt
