// LeakSanitizer's language: one "leak:PATTERN" per line. A pattern is found
// anywhere in the function, file or module of any frame of the allocation
// stack; * is a wildcard, ^ and $ are the ends. Lines for other sanitizers are
// passed over, since one file often serves several.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "core/suppression_languages.h"

namespace plumb {

namespace {

// What the other sanitizers' files have, as compiler-rt names them.
constexpr std::array<std::string_view, 34> kOtherTypes = {
    "none",
    "race",
    "race_top",
    "mutex",
    "thread",
    "signal",
    "deadlock",
    "called_from_lib",
    "fd",
    "interceptor_name",
    "interceptor_via_fun",
    "interceptor_via_lib",
    "odr_violation",
    "alloc_dealloc_mismatch",
    "vptr_check",
    "alignment",
    "bool",
    "bounds",
    "builtin",
    "enum",
    "float-cast-overflow",
    "float-divide-by-zero",
    "function",
    "implicit-integer-sign-change",
    "integer-divide-by-zero",
    "null",
    "nullability-arg",
    "object-size",
    "pointer-overflow",
    "return",
    "shift",
    "signed-integer-overflow",
    "undefined",
    "unsigned-integer-overflow",
};

// As a glob of plumb's. Like the sanitizers, what follows a $ is ignored.
std::string glob_of(std::string_view pattern) {
  std::string glob;
  if (pattern.starts_with('^')) {
    pattern.remove_prefix(1);
  } else {
    glob += '*';
  }
  const std::size_t end = pattern.find('$');
  for (const char c : pattern.substr(0, end)) {
    if (c == '?' || c == '\\') glob += '\\';
    if (c == '*' && glob.ends_with('*') && !glob.ends_with("\\*")) continue;
    glob += c;
  }
  if (end == pattern.npos && !glob.ends_with('*')) glob += '*';
  return glob;
}

Suppression entry_of(std::string_view pattern, std::string place) {
  Suppression entry;
  entry.name = fmt::format("leak:{}", pattern);
  entry.origin = std::move(place);
  StackPattern stack;
  stack.part = StackPart::allocation;
  stack.frames.resize(2);
  stack.frames[0].gap = true;
  stack.frames[1].word = glob_of(pattern);
  entry.stacks.push_back(std::move(stack));
  return entry;
}

}  // namespace

Result<std::vector<Suppression>> parse_lsan_suppressions(std::string_view text,
                                                         std::string_view file) {
  std::vector<Suppression> entries;
  Lines lines(text);
  while (lines.next()) {
    const std::string_view line = lines.text();
    const std::size_t colon = line.find(':');
    const std::string_view type = line.substr(0, colon);
    if (colon == line.npos ||
        (type != "leak" && std::ranges::find(kOtherTypes, type) == kOtherTypes.end())) {
      return fail(place_in(file, lines.number()),
                  fmt::format("'{}' is no LeakSanitizer suppression", line.substr(0, 60)),
                  "write leak:PATTERN, or # before a comment");
    }
    if (type != "leak") continue;
    const std::string_view pattern = trim(line.substr(colon + 1));
    if (pattern.empty() || pattern.find_first_not_of("^$*") == pattern.npos) {
      return fail(place_in(file, lines.number()), "this pattern matches every leak",
                  "name a function, file or module: leak:PATTERN");
    }
    entries.push_back(entry_of(pattern, place_in(file, lines.number())));
  }
  return entries;
}

}  // namespace plumb
