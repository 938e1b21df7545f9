// Leaks that somebody decided not to see. Three languages, one meaning:
//
//   our own file         TOML, one [[suppress]] table per entry
//   Valgrind memcheck    { name  Memcheck:Leak  match-leak-kinds: ...  fun: obj: src: ... }
//   LeakSanitizer        leak:PATTERN
//
// A suppressed leak stays in the report, marked, and is hidden by default.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/report.h"

namespace plumb {

// Which stack of a leak a pattern looks at.
enum class StackPart { any, allocation, loss, last_use };

// One frame of a pattern; an empty glob matches everything. `gap` stands for
// any number of frames, none included.
struct FramePattern {
  bool gap = false;
  std::string function;
  std::string file;
  std::string module;
};

struct Suppression {
  std::string name;    // for the reader
  std::string origin;  // "FILE:LINE"
  std::string reason;
  std::string id;                  // fingerprint, or empty
  std::vector<Kind> kinds;         // empty: all
  StackPart part = StackPart::any;
  bool anywhere = false;           // the frames may start at any depth (LSan)
  std::vector<FramePattern> frames;  // in order, innermost first
  std::optional<std::uint64_t> max;  // no more than this many blocks
  std::string expires;               // "2027-01-31", or empty
  // filled by apply_suppressions
  std::uint64_t used_leaks = 0;
  std::uint64_t used_blocks = 0;
  bool expired = false;
};

// Reads any of the three languages, recognised by content. `file` names it in
// errors and in Suppression::origin.
Result<std::vector<Suppression>> parse_suppressions(std::string_view text, std::string_view file);

// Marks the leaks that an entry covers; the first entry that fits wins.
// `today` is "YYYY-MM-DD". Entries that are expired do not apply; an entry
// over its `max` does not apply to anything beyond it and a note says so.
void apply_suppressions(Report& report, std::vector<Suppression>& entries, std::string_view today);

// An entry in our own language that covers exactly this leak's shape.
std::string suppression_for(const Leak& leak, const Report& report);

}  // namespace plumb
