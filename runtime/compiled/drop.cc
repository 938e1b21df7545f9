#include "compiled/drop.h"

#include "common/process.h"
#include "compiled/options.h"
#include "compiled/place_notes.h"
#include "compiled/stacks.h"
#include "compiled/thread_heap.h"
#include "preload/export.h"

__thread uint64_t __plumb_clock = 0;

namespace plumb::rt {

namespace {

// As far into a block the exact place of a reference is always kept.
constexpr uintptr_t kNamedBytes = 2048;

}  // namespace

__attribute__((noinline)) void drop_from(Inside& in, uintptr_t first, void* begin, size_t size,
                                         const PlumbSite* site, PlumbCause cause, bool clear,
                                         Caller caller) {
  // Most frees of holders are like the last one from there, which says what to look up.
  ThreadHeap* heap = thread_heap;
  SeenStack* seen =
      heap == nullptr ? nullptr : seen_short_stack(*heap, caller.frame, caller.address);
  const bool remembers = seen != nullptr && cause == PLUMB_CAUSE_HOLDER_FREED;
  const uintptr_t to = reinterpret_cast<uintptr_t>(begin) + size;
  PlaceNote note{};
  bool known = false;  // the note, but for the offset
  for (uintptr_t at = first; at + 8 <= to; at += 8) {
    auto* word = reinterpret_cast<volatile uint64_t*>(at);
    if (!may_refer(*word)) continue;
    const uintptr_t offset = at - reinterpret_cast<uintptr_t>(begin);
    uint32_t place = 0;
    if (remembers && seen->number != 0 && seen->site == site && seen->offset == offset) {
      place = seen->number;
    } else {
      if (!known) {
        note.place = site == nullptr ? 0 : place_number(site);
        note.stack = seen != nullptr ? seen->stack : short_stack(in, caller.frame, caller.address);
        note.cause = cause;
        known = true;
      }
      const bool exact = offset < kNamedBytes || (offset < kSomewhere && notes_are_few());
      note.offset = exact ? static_cast<uint32_t>(offset) : kSomewhere;
      place = note_place(in, note);
      if (remembers && exact) {
        seen->site = site;
        seen->offset = note.offset;
        seen->number = place;
      }
      if (place == 0) place = note.place;
    }
    write_drop(*word, place);
    if (clear) *word = 0;
  }
}

}  // namespace plumb::rt

using namespace plumb::rt;

// From the program's own code, for a value in the arena. It comes inverted, so
// that no copy of it is left that looks like a reference.
PLUMB_EXPORT void __plumb_drop(uint64_t hidden, const PlumbSite* site) {
  if (!tracking() || !was_in_use(inverted(hidden))) return;
  Inside in;
  const uint32_t place = place_number(site);
  uint32_t noted = 0;
  if (in.outermost()) noted = note_place(in, {place, short_stack(in, PLUMB_HERE()), 0, 0});
  write_drop(inverted(hidden), noted != 0 ? noted : place);
}

// What [begin, begin + size) holds is about to be overwritten or to go.
PLUMB_EXPORT void __plumb_drop_range(void* begin, uint64_t size, const PlumbSite* site) {
  if (!tracking() || begin == nullptr) return;
  Inside in;
  if (!in.outermost()) return;
  drop_contents(in, begin, size, site, PLUMB_CAUSE_NONE, false, {PLUMB_HERE()});
}
