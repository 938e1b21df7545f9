// Source lines with places marked:
//
//     51 |   char *p = malloc(4096);
//        |             ^~~~~~ allocated here
//    ...
//     88 |   buf = malloc(n);
//        |       ^ lost here (overwritten)
//
// All marks of one file are one excerpt, in the order of the source. Lines
// that are wider than the page are cut around the mark.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "report/text_flow.h"

namespace plumb {

struct Mark {
  std::uint32_t line = 0;
  std::optional<std::uint32_t> column;  // none: the whole line is meant
  std::string label;
  Tone tone = Tone::plain;
};

// `file` is what the cache opens. Marks on lines that the file does not have
// are left out; empty when none is left.
std::string write_excerpt(SourceCache& sources, const std::string& file, std::vector<Mark> marks,
                          const Page& page);

}  // namespace plumb
