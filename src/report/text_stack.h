// A stack in words: the few frames that tell most (core/lead.h), or all of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/lead.h"
#include "report/text_flow.h"
#include "report/text_place.h"

namespace plumb {

// The program's frames from the lead outwards, without foreign ones except for
// those that other frames called: `compare <- qsort <- sort_names`.
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
