// Which frames of a stack a person wants to see first.
//
// The lead is the innermost frame that is in the user's own source: not the
// allocator, not a library header (`std::vector` code is in the program, but
// nobody can mend it there), not a library of the system, as long as there is
// such a frame at all. What was passed on the way is named as `through`.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/report.h"
#include "report/text_flow.h"
#include "report/text_place.h"

namespace plumb {

struct Lead {
  const Frame* frame = nullptr;    // null: no frame is known
  const Frame* through = nullptr;  // the frame that it called, if skipped
  std::size_t index = 0;           // of `frame` in its stack
};

Lead lead_of(const Stack& stack, const Report& report);

// From the innermost frame that is not the allocator's outwards to `main`;
// what started it is left out.
std::span<const Frame> program_frames(const Stack& stack);

// The same from the lead outwards.
std::span<const Frame> telling_frames(const Stack& stack, const Report& report);

// Adds " in grow <- handle (server.c:60) <- main (server.c:131)", a few frames
// of those that telling_frames() gave. No frame is broken over two lines when
// `room` columns are enough for it.
void add_chain(Paragraph& line, std::span<const Frame> frames, const Places& places,
               std::size_t room);

// One line for each frame, whole.
std::string write_frames(const Stack& stack, const Places& places, const Page& page,
                         std::size_t indent);

}  // namespace plumb
