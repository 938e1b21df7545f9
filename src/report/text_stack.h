// Which frames of a stack a person wants to see first.
//
// Foreign are frames of library headers (`std::vector` code is in the program,
// but nobody can mend it there) and of the system's libraries. The lead is the
// innermost frame of the user's own source; where there is none, the innermost
// that is not foreign; else the innermost that is not the allocator's. What was
// passed on the way to it is named as `through`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/report.h"
#include "report/text_flow.h"
#include "report/text_place.h"

namespace plumb {

struct Lead {
  const Frame* frame = nullptr;    // null: no frame is known
  const Frame* through = nullptr;  // the frame that it called, if skipped
};

Lead lead_of(const Stack& stack, const Report& report);

// From the innermost frame that is not the allocator's outwards to `main`;
// what started it is left out.
std::span<const Frame> program_frames(const Stack& stack);

// The same from the lead outwards and without foreign frames, except for those
// that other frames called: `compare <- qsort <- sort_names`.
std::vector<const Frame*> telling_frames(const Stack& stack, const Report& report);

// Adds " in grow <- handle (server.c:60) <- main (server.c:131)", a few frames
// of those that telling_frames() gave. No frame is broken over two lines when
// `room` columns are enough for it.
void add_chain(Paragraph& line, std::span<const Frame* const> frames, const Places& places,
               std::size_t room);

// One line for each frame, whole.
std::string write_frames(const Stack& stack, const Places& places, const Page& page,
                         std::size_t indent);

}  // namespace plumb
