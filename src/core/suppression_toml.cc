// Plumb's own language:
//
//   [[suppress]]
//   name = "font cache"
//   reason = "fontconfig keeps it for the whole run"
//   kind = "lost"                          # or ["lost", "forgotten"]
//   allocation = ["FcPatternCreate", "...", { module = "libpango*" }]
//   max = 20                               # blocks
//   expires = 2027-01-31                   # the last day
//
// Stacks are named `allocation`, `loss`, `last-use` or `any`; `id` is a
// fingerprint. A key that is not known is an error: a typing mistake in a
// filter must not hide more than its author meant.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/text.h"
#include "core/suppression_languages.h"
#include "core/toml_limits.h"

namespace plumb {

namespace {

struct StackKey {
  std::string_view name;
  StackPart part;
};
constexpr std::array<StackKey, 4> kStackKeys = {{{"any", StackPart::any},
                                                 {"allocation", StackPart::allocation},
                                                 {"loss", StackPart::loss},
                                                 {"last-use", StackPart::last_use}}};
constexpr std::string_view kOtherKeys[] = {"name", "reason", "kind", "id", "max", "expires"};
constexpr std::string_view kFrameKeys[] = {"function", "file", "module"};

// "2027-01-31" if that is a day.
std::optional<std::string> day_of(int year, unsigned month, unsigned day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || year < 0 || year > 9999) return std::nullopt;
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

std::optional<std::string> day_of(std::string_view text) {
  const auto number = [&](std::size_t from, std::size_t count) -> std::optional<unsigned> {
    unsigned value = 0;
    const char* const end = text.data() + from + count;
    const auto [stop, error] = std::from_chars(text.data() + from, end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
  };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = number(0, 4);
  const auto month = number(5, 2);
  const auto day = number(8, 2);
  if (!year || !month || !day) return std::nullopt;
  return day_of(static_cast<int>(*year), *month, *day);
}

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  Result<std::vector<Suppression>> read(const toml::table& root) {
    std::vector<Suppression> entries;
    for (const auto& [key, node] : root) {
      if (key.str() != "suppress") {
        return failure(key.source(),
                       fmt::format("'{}' is no key of a suppression file", shown(key)),
                       "start each entry with [[suppress]]");
      }
      const toml::array* tables = node.as_array();
      if (tables == nullptr) {
        return failure(key.source(), "'suppress' is not a list of tables",
                       "start each entry with [[suppress]], in two pairs of brackets");
      }
      for (const toml::node& element : *tables) {
        const toml::table* table = element.as_table();
        if (table == nullptr) {
          return failure(element.source(), "'suppress' has an element that is no table",
                         "start each entry with [[suppress]]");
        }
        Result<Suppression> entry = read_entry(*table);
        if (!entry) return std::unexpected(entry.error());
        entries.push_back(std::move(*entry));
      }
    }
    return entries;
  }

 private:
  Result<Suppression> read_entry(const toml::table& table) {
    Suppression entry;
    entry.origin = place_in(file_, table.source().begin.line);
    for (const auto& [key, node] : table) {
      if (Result<void> done = read_member(key, node, entry); !done) {
        return std::unexpected(done.error());
      }
    }
    if (entry.id.empty() && entry.kinds.empty() && entry.stacks.empty()) {
      return failure(table.source(), "this entry would hide every leak",
                     "add id, kind, allocation, loss, last-use or any");
    }
    return entry;
  }

  Result<void> read_member(const toml::key& key, const toml::node& node, Suppression& entry) {
    const std::string_view name = key.str();
    if (name == "name") return read_text(key, node, entry.name);
    if (name == "reason") return read_text(key, node, entry.reason);
    if (name == "id") return read_id(key, node, entry.id);
    if (name == "kind") return read_kinds(key, node, entry.kinds);
    if (name == "max") return read_max(key, node, entry.max);
    if (name == "expires") return read_day(key, node, entry.expires);
    const auto stack = std::ranges::find(kStackKeys, name, &StackKey::name);
    if (stack != kStackKeys.end()) return read_stack(key, node, stack->part, entry.stacks);

    std::vector<std::string_view> known(std::begin(kOtherKeys), std::end(kOtherKeys));
    for (const StackKey& stack_key : kStackKeys) known.push_back(stack_key.name);
    return unknown_key(key, "a suppression", known);
  }

  Result<void> read_text(const toml::key& key, const toml::node& node, std::string& text) {
    const toml::value<std::string>* value = node.as_string();
    if (value == nullptr) return wrong_type(key, node, "a string");
    text = value->get();
    return {};
  }

  Result<void> read_id(const toml::key& key, const toml::node& node, std::string& id) {
    if (Result<void> done = read_text(key, node, id); !done) return done;
    const bool hex = std::ranges::all_of(
        id, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
    if (id.size() == 16 && hex) return {};
    return failure(node.source(), "'id' is no fingerprint",
                   "copy the 16 hexadecimal digits that a report shows");
  }

  Result<void> read_kinds(const toml::key& key, const toml::node& node, std::vector<Kind>& kinds) {
    if (const toml::array* list = node.as_array()) {
      if (list->empty()) return failure(node.source(), "'kind' is an empty list");
      for (const toml::node& element : *list) {
        if (Result<void> done = read_kind(key, element, kinds); !done) return done;
      }
      return {};
    }
    return read_kind(key, node, kinds);
  }

  Result<void> read_kind(const toml::key& key, const toml::node& node, std::vector<Kind>& kinds) {
    std::string word;
    if (Result<void> done = read_text(key, node, word); !done) return done;
    const std::optional<Kind> kind = value_of<Kind>(word);
    if (!kind) {
      return failure(node.source(), fmt::format("'{}' is no kind of leak", word.substr(0, 60)),
                     "use lost, stale or forgotten");
    }
    kinds.push_back(*kind);
    return {};
  }

  Result<void> read_max(const toml::key& key, const toml::node& node,
                        std::optional<std::uint64_t>& max) {
    const toml::value<std::int64_t>* value = node.as_integer();
    if (value == nullptr) return wrong_type(key, node, "a number of blocks");
    if (value->get() < 0) return failure(node.source(), "'max' is negative");
    max = static_cast<std::uint64_t>(value->get());
    return {};
  }

  Result<void> read_day(const toml::key& key, const toml::node& node, std::string& expires) {
    std::optional<std::string> day;
    if (const toml::value<toml::date>* date = node.as_date()) {
      day = day_of(date->get().year, date->get().month, date->get().day);
    } else if (const toml::value<std::string>* text = node.as_string()) {
      day = day_of(text->get());
    } else {
      return wrong_type(key, node, "a date");
    }
    if (!day) return failure(node.source(), "'expires' is no date", "write it as 2027-01-31");
    expires = std::move(*day);
    return {};
  }

  Result<void> read_stack(const toml::key& key, const toml::node& node, StackPart part,
                          std::vector<StackPattern>& stacks) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return wrong_type(key, node, "a list of frames, innermost first");
    StackPattern stack{.part = part, .from_allocator = false, .frames = {}};
    for (const toml::node& element : *list) {
      FramePattern frame;
      if (Result<void> done = read_frame(key, element, frame); !done) return done;
      const bool second_gap = frame.gap && !stack.frames.empty() && stack.frames.back().gap;
      if (!second_gap) stack.frames.push_back(std::move(frame));
    }
    const bool names_a_frame =
        std::ranges::any_of(stack.frames, [](const FramePattern& frame) { return !frame.gap; });
    if (!names_a_frame) {
      return failure(node.source(), fmt::format("'{}' names no frame", shown(key)),
                     "give at least one function, file or module");
    }
    stacks.push_back(std::move(stack));
    return {};
  }

  Result<void> read_frame(const toml::key& key, const toml::node& node, FramePattern& frame) {
    if (const toml::value<std::string>* text = node.as_string()) {
      if (text->get().empty()) return empty_pattern(node);
      frame.gap = text->get() == "...";
      if (!frame.gap) frame.function = text->get();
      return {};
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return wrong_type(key, node, "a list of strings and { function, file, module } tables");
    }
    if (table->empty()) return empty_pattern(node);
    for (const auto& [member, value] : *table) {
      std::string* target = nullptr;
      if (member.str() == "function") target = &frame.function;
      if (member.str() == "file") target = &frame.file;
      if (member.str() == "module") target = &frame.module;
      if (target == nullptr) {
        return unknown_key(member, "a frame", {std::begin(kFrameKeys), std::end(kFrameKeys)});
      }
      if (Result<void> done = read_text(member, value, *target); !done) return done;
      if (target->empty()) return empty_pattern(value);
    }
    return {};
  }

  // Keys come from the file: as much of one as fits into a message.
  static std::string shown(const toml::key& key) { return std::string(key.str().substr(0, 60)); }

  std::unexpected<Error> empty_pattern(const toml::node& node) const {
    return failure(node.source(), "this pattern is empty", "write \"*\" for any one frame");
  }
  std::unexpected<Error> wrong_type(const toml::key& key, const toml::node& node,
                                    std::string_view wanted) const {
    return failure(node.source(), fmt::format("'{}' is not {}", shown(key), wanted));
  }
  std::unexpected<Error> unknown_key(const toml::key& key, std::string_view owner,
                                     const std::vector<std::string_view>& known) const {
    const std::string_view meant = nearest(key.str(), known);
    return failure(key.source(), fmt::format("'{}' is no key of {}", shown(key), owner),
                   meant.empty() ? fmt::format("the keys are {}", fmt::join(known, ", "))
                                 : fmt::format("did you mean '{}'?", meant));
  }
  std::unexpected<Error> failure(const toml::source_region& place, std::string what,
                                 std::string hint = {}) const {
    return fail(place_in(file_, place.begin.line), std::move(what), std::move(hint));
  }

  std::string_view file_;
};

}  // namespace

Result<std::vector<Suppression>> parse_toml_suppressions(std::string_view text,
                                                         std::string_view file) {
  if (const std::optional<std::size_t> line = too_deep_toml_line(text)) {
    return fail(place_in(file, *line),
                fmt::format("keys or brackets nest deeper than {}", kDeepestToml));
  }
  try {
    const toml::table root = toml::parse(text);
    return Reader(file).read(root);
  } catch (const toml::parse_error& error) {
    return fail(place_in(file, error.source().begin.line), std::string(error.description()),
                "an entry starts with [[suppress]]; strings stand in quotes");
  }
}

}  // namespace plumb
