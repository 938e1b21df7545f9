// Writing down that a reference went, where the program's own code cannot do it
// by itself.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/inside.h"
#include "compiled/arena.h"
#include "compiled/layout.h"
#include "compiled/places.h"
#include "trace/record.h"

namespace plumb::rt {

// Who is asking, for the stack.
struct Caller {
  uintptr_t frame;
  uintptr_t address;
};

// A reference that our own frames hold over a call is on the stack afterwards, and
// looks like one of the program's: it is held inverted, and the compiler is not to
// know better.
inline uint64_t inverted(uint64_t value) {
  __asm__ volatile("notq %0" : "+r"(value));
  return value;
}

// Numbers that look like references are left alone: each would cost a page of the shadow.
inline bool may_refer(uint64_t value) { return is_tracked(value) && was_in_use(value); }

PLUMB_SHADOW inline void write_drop(uint64_t value, uint32_t place) {
  __plumb_clock += kTick;
  *shadow_of(value) = __plumb_clock | place | half_of(value);
}

// From the word at `first`, which is one, all references in [begin, begin + size) go.
void drop_from(Inside& in, uintptr_t first, void* begin, size_t size, const PlumbSite* site,
               PlumbCause cause, bool clear, Caller caller);

// All references in [begin, begin + size) go, because of what happens at `site`
// (may be null). `clear`: and the words are zeroed, so that nobody who gets the
// memory next takes them for references.
inline void drop_contents(Inside& in, void* begin, size_t size, const PlumbSite* site,
                          PlumbCause cause, bool clear, Caller caller) {
  const uintptr_t from = (reinterpret_cast<uintptr_t>(begin) + 7) & ~uintptr_t{7};
  const uintptr_t to = reinterpret_cast<uintptr_t>(begin) + size;
  for (uintptr_t at = from; at + 8 <= to; at += 8) {
    if (__builtin_expect(is_tracked(*reinterpret_cast<volatile uint64_t*>(at)), 0)) {
      drop_from(in, at, begin, size, site, cause, clear, caller);
      return;
    }
  }
}

}  // namespace plumb::rt
