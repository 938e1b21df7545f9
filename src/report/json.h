// The report as JSON (schema plumb-report/1), written and read back without
// loss. Members are written in the order of the contract; unknown ones are
// kept (core/extra.h). Reading is strict: every wrong type, impossible value
// or total that does not add up is an Error that names the place, as
// ":LINE:COLUMN" for syntax and as a path ("leaks[3].bytes") for content.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/report.h"

namespace plumb {

std::string write_json(const Report& report);

// The same for the page, which has to be opened quickly: `frames` is the list of
// all distinct frames, and where the report has a frame, `report` has its number.
struct CompactJson {
  std::string report;
  std::string frames;
};
CompactJson write_compact_json(const Report& report);

// `text` is the whole file. Error::where is relative to it: see Error::in.
Result<Report> read_json(std::string_view text);

}  // namespace plumb
