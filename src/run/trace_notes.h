// What the runtime could not do, in words.
#pragma once

#include <vector>

#include "core/report.h"
#include "trace/record_reader.h"

namespace plumb {

std::vector<Note> notes_of(const Trace& trace);

}  // namespace plumb
