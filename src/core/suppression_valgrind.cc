// Valgrind's language, as memcheck uses it for leaks:
//
//   {
//      a name
//      Memcheck:Leak
//      match-leak-kinds: definite,possible
//      fun:malloc
//      ...
//      obj:/usr/lib/*/libfontconfig.so*
//   }
//
// Entries for other tools and other errors are passed over. A stack of
// memcheck begins with the allocator's function. Definite, indirect and
// possible are all `lost` here, reachable is `forgotten`.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "core/suppression_languages.h"

namespace plumb {

namespace {

struct LeakKind {
  std::string_view name;
  std::optional<Kind> kind;  // none: the word stands for a set
};
constexpr std::array<LeakKind, 6> kLeakKinds = {{{"definite", Kind::lost},
                                                 {"indirect", Kind::lost},
                                                 {"possible", Kind::lost},
                                                 {"reachable", Kind::forgotten},
                                                 {"all", std::nullopt},
                                                 {"none", std::nullopt}}};

// "tool1,tool2:type"
bool is_leak_of_memcheck(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || trim(line.substr(colon + 1)) != "Leak") return false;
  for (const std::string_view tool : split(line.substr(0, colon), ',')) {
    if (trim(tool) == "Memcheck") return true;
  }
  return false;
}

// Any tool and kind: words and commas, a colon, a word.
bool is_tool_and_kind(std::string_view line) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == ' ';
  };
  const std::size_t colon = line.find(':');
  return colon != line.npos && colon > 0 && colon + 1 < line.size() &&
         std::ranges::all_of(line.substr(0, colon),
                             [&](char c) { return is_word(c) || c == ','; }) &&
         std::ranges::all_of(line.substr(colon + 1), is_word);
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : lines_(text), file_(file) {}

  Result<std::vector<Suppression>> parse() {
    while (lines_.next()) {
      if (lines_.text() != "{") {
        return failure(fmt::format("'{}' stands outside of an entry", lines_.text().substr(0, 60)),
                       "an entry starts with a line that has only { and ends with one that has }");
      }
      if (Result<void> done = parse_entry(); !done) return std::unexpected(done.error());
    }
    return std::move(entries_);
  }

 private:
  Result<void> parse_entry() {
    start_ = lines_.number();
    Suppression entry;
    entry.origin = place_in(file_, start_);
    if (!next_inside()) return unclosed();
    entry.name = lines_.text();
    if (!next_inside()) return unclosed();
    if (!is_leak_of_memcheck(lines_.text())) {
      if (!is_tool_and_kind(lines_.text())) {
        return failure(fmt::format("'{}' names no tool and kind", lines_.text().substr(0, 60)),
                       "the second line of an entry is Memcheck:Leak");
      }
      while (lines_.text() != "}") {
        if (!lines_.next()) return unclosed();
      }
      return {};
    }
    StackPattern stack{.part = StackPart::allocation, .from_allocator = true, .frames = {}};
    bool never = false;
    while (true) {
      if (!lines_.next()) return unclosed();
      if (lines_.text() == "}") break;
      constexpr std::string_view kKinds = "match-leak-kinds:";
      Result<void> done = lines_.text().starts_with(kKinds)
                              ? parse_kinds(lines_.text().substr(kKinds.size()), entry, never)
                              : parse_frame(stack);
      if (!done) return done;
    }
    const bool names_a_frame =
        std::ranges::any_of(stack.frames, [](const FramePattern& frame) { return !frame.gap; });
    if (!names_a_frame) {
      return fail(place_in(file_, start_), "this entry names no frame and would hide every leak",
                  "add fun:, obj: or src: lines");
    }
    entry.stacks.push_back(std::move(stack));
    if (!never) entries_.push_back(std::move(entry));
    return {};
  }

  Result<void> parse_kinds(std::string_view list, Suppression& entry, bool& never) {
    bool all = false;
    never = true;
    for (const std::string_view item : split(list, ',')) {
      const std::string_view word = trim(item);
      const auto known = std::ranges::find(kLeakKinds, word, &LeakKind::name);
      if (known == kLeakKinds.end()) {
        return failure(fmt::format("'{}' is no leak kind of memcheck", word.substr(0, 60)),
                       "use definite, indirect, possible, reachable, all or none");
      }
      all = all || word == "all";
      never = never && word == "none";
      const std::optional<Kind> kind = known->kind;
      if (kind && std::ranges::find(entry.kinds, *kind) == entry.kinds.end()) {
        entry.kinds.push_back(*kind);
      }
    }
    if (all) entry.kinds.clear();
    return {};
  }

  Result<void> parse_frame(StackPattern& stack) {
    const std::string_view line = lines_.text();
    FramePattern frame;
    const std::size_t colon = line.find(':');
    const std::string_view type = line.substr(0, colon);
    const std::string_view glob = colon == line.npos ? "" : trim(line.substr(colon + 1));
    // Valgrind folds what is below main into one frame of this name.
    if (line == "..." || line == "fun:(below main)") {
      frame.gap = true;
    } else if (glob.empty()) {
      return bad_frame();
    } else if (type == "fun") {
      frame.function = glob_of(glob);
    } else if (type == "obj") {
      frame.module = glob_of(glob);
    } else if (type == "src") {
      set_source(frame, glob);
    } else {
      return bad_frame();
    }
    const bool second_gap = frame.gap && !stack.frames.empty() && stack.frames.back().gap;
    if (!second_gap) stack.frames.push_back(std::move(frame));
    return {};
  }

  // Valgrind has no escape: a backslash is one.
  static std::string glob_of(std::string_view pattern) {
    std::string glob;
    for (const char c : pattern) {
      if (c == '\\') glob += '\\';
      glob += c;
    }
    return glob;
  }

  static void set_source(FramePattern& frame, std::string_view source) {
    const std::size_t colon = source.rfind(':');
    if (colon != source.npos && colon > 0) {
      const std::string_view digits = source.substr(colon + 1);
      std::uint32_t line = 0;
      const char* const end = digits.data() + digits.size();
      const auto [stop, error] = std::from_chars(digits.data(), end, line);
      if (error == std::errc() && stop == end) {
        frame.line = line;
        source = source.substr(0, colon);
      }
    }
    frame.file = glob_of(source);
  }

  // The next line, unless the entry or the file ends.
  bool next_inside() { return lines_.next() && lines_.text() != "}" && lines_.text() != "{"; }

  std::unexpected<Error> unclosed() const {
    return fail(place_in(file_, start_), "this entry is not complete",
                "an entry has a name, Memcheck:Leak, frames, and ends with } on its own line");
  }
  std::unexpected<Error> bad_frame() const {
    return failure(fmt::format("'{}' is no frame", lines_.text().substr(0, 60)),
                   "write fun:FUNCTION, obj:MODULE, src:FILE or ...");
  }
  std::unexpected<Error> failure(std::string what, std::string hint) const {
    return fail(place_in(file_, lines_.number()), std::move(what), std::move(hint));
  }

  Lines lines_;
  std::string_view file_;
  std::size_t start_ = 0;
  std::vector<Suppression> entries_;
};

}  // namespace

Result<std::vector<Suppression>> parse_valgrind_suppressions(std::string_view text,
                                                             std::string_view file) {
  return Parser(text, file).parse();
}

}  // namespace plumb
