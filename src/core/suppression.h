// Leaks that somebody decided not to see. Three languages, one meaning:
//
//   our own file         TOML, one [[suppress]] table per entry
//   Valgrind memcheck    { name  Memcheck:Leak  match-leak-kinds: ...  fun: obj: src: ... }
//   LeakSanitizer        leak:PATTERN
//
// An entry asks for kinds, for a fingerprint and for patterns of stacks; all
// that it asks for must hold. A pattern is matched from the innermost frame
// on and may end before the stack does.
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
//
// `function` is compared with the demangled name, the same without clone
// suffixes and ABI tags, that without parameters and return type, and the
// symbol. `file` and `module` are compared with the whole path and with each
// end of it that starts after a slash.
struct FramePattern {
  bool gap = false;
  std::string function;
  std::string file;
  std::string module;
  std::string word;                   // LSan: function, symbol, file or module
  std::optional<std::uint32_t> line;  // Valgrind's src:FILE:LINE
  bool operator==(const FramePattern&) const = default;
};

struct StackPattern {
  StackPart part = StackPart::any;
  // The first frame of the pattern is the allocator's, as in Valgrind; else
  // it may also be the innermost one of the program.
  bool from_allocator = false;
  std::vector<FramePattern> frames;  // in order, innermost first
};

struct Suppression {
  std::string name;    // for the reader
  std::string origin;  // "FILE:LINE"
  std::string reason;
  std::string id;                    // fingerprint, or empty
  std::vector<Kind> kinds;           // empty: all
  std::vector<StackPattern> stacks;  // all must match
  std::optional<std::uint64_t> max;  // no more than this many blocks
  std::string expires;               // "2027-01-31", the last day; or empty

  // Filled by apply_suppressions, which adds to what is there: entries can be
  // applied to several reports.
  std::uint64_t used_leaks = 0;
  std::uint64_t used_blocks = 0;
  std::uint64_t refused_leaks = 0;  // covered, but over `max` or expired
  std::uint64_t refused_blocks = 0;
  bool expired = false;

  // "FILE:LINE (NAME)", as Suppressed::by has it.
  std::string label() const;
};

// Reads any of the three languages, recognised by content. `file` names it in
// errors and in Suppression::origin.
Result<std::vector<Suppression>> parse_suppressions(std::string_view text, std::string_view file);

// Marks the leaks that an entry covers; the first entry that fits wins.
// `today` is "YYYY-MM-DD". Entries that are expired do not apply; an entry
// over its `max` does not apply to anything beyond it and a note says so.
// Leaks that are marked already stay as they are.
void apply_suppressions(Report& report, std::vector<Suppression>& entries, std::string_view today);

// The entries that covered nothing, in their order.
std::vector<const Suppression*> unused(const std::vector<Suppression>& entries);

// An entry in our own language that covers exactly this leak's shape: its kind
// and the functions of its stacks. Empty when the leak has neither stack nor
// fingerprint.
std::string suppression_for(const Leak& leak, const Report& report);

}  // namespace plumb
