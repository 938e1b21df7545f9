// Which frame of a stack a person wants to see first.
//
// Foreign are frames of library headers (`std::vector` code is in the program,
// but nobody can mend it there) and of the system's libraries. The lead is the
// innermost frame of the user's own source; where there is none, the innermost
// that is not foreign; else the innermost that is not the allocator's. What was
// passed on the way to it is named as `through`.
#pragma once

#include <span>

#include "core/leak.h"
#include "core/report.h"

namespace plumb {

struct Lead {
  const Frame* frame = nullptr;    // null: no frame is known
  const Frame* through = nullptr;  // the frame that it called, if skipped
};

Lead lead_of(const Stack& stack, const Report& report);

// The frame that a report puts first: where the leak was lost, else where a
// static path ends, else where it was allocated. Null when no stack is known.
const Frame* primary_frame(const Leak& leak, const Report& report);

bool is_foreign(const Frame& frame, const Report& report);

// From the innermost frame that is not the allocator's outwards to `main`;
// what started it is left out.
std::span<const Frame> program_frames(const Stack& stack);

}  // namespace plumb
