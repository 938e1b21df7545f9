// Reads the tables of json_fields.h with simdjson's on-demand parser: one
// pass, no tree, so that what is held beside the text is its padded copy, an
// index of its tokens, and the report.
//
// That parser checks what it is asked for. Every known value is asked for,
// and every unknown one goes through find_flaw, so whatever is accepted is
// JSON as a whole. When anything fails, the text is looked at again by the
// slow parser: if it is not JSON, that is the error, with line and column;
// otherwise the error is the path to the value and what was expected there.
//
// Limits: 4 GB; kDeepest levels inside unknown members. Names given twice are
// refused, but not looked for inside unknown members.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/names.h"
#include "base/text.h"
#include "core/accounting.h"
#include "report/json.h"
#include "report/json_fields.h"
#include "report/json_locate.h"
#include "report/json_schema.h"
#include "report/json_string.h"
#include "report/json_token.h"

namespace plumb {
namespace json {
namespace {

bool is_fingerprint(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Each `read` fills its argument or fails. A failure leaves its sentence here
// and its path, which the callers prefix on the way out.
class Reader {
 public:
  explicit Reader(std::size_t modules) : modules_(modules) {}

  template <typename Described, typename T>
  bool read_object(const Described& description, ondemand::object json, T& out) {
    Extra& extra = std::invoke(description.extra, out);
    std::uint64_t seen = 0;
    for (simdjson::simdjson_result<ondemand::field> field : json) {
      const std::optional<Entry> entry = entry_of(std::move(field));
      if (!entry) return bad_json();
      std::optional<bool> ok;  // once the row was found
      std::uint64_t bit = 1;
      const auto try_row = [&](const auto& row) {
        if (row.name == entry->name) ok = read_once(row, bit, seen, entry->value, out);
        bit <<= 1;
        return ok.has_value();
      };
      std::apply([&](const auto&... rows) { (try_row(rows) || ...); }, description.rows);
      if (!ok) ok = read_unknown(*entry, extra);
      if (!*ok) return false;
    }
    return no_name_twice(extra) && all_required(description, seen);
  }

  template <typename T>
  bool read(ondemand::value json, T& out) {
    if constexpr (kIsObject<T>) {
      ondemand::object object;
      if (json.get_object().get(object)) return expected("an object", json);
      return read_object(kObject<T>, object, out);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (json.get_bool().get(out)) return expected("true or false", json);
      return true;
    } else if constexpr (std::is_same_v<T, double>) {
      if (json.get_double().get(out)) return expected("a number", json);
      return true;
    } else if constexpr (std::is_same_v<T, ModuleId>) {
      return read_module(json, out);
    } else if constexpr (std::is_enum_v<T>) {
      return read_word(json, out);
    } else {
      static_assert(std::is_integral_v<T>);
      return read_whole(json, out);
    }
  }

  bool read(ondemand::value json, std::string& out) {
    const std::optional<std::string_view> text = text_of(json);
    if (!text) return expected("a string", json);
    out = *text;
    return true;
  }

  template <typename T>
  bool read(ondemand::value json, std::optional<T>& out) {
    return read(json, out.emplace());
  }

  template <typename T>
  bool read(ondemand::value json, std::vector<T>& out) {
    ondemand::array array;
    if (json.get_array().get(array)) return expected("an array", json);
    for (simdjson::simdjson_result<ondemand::value> next : array) {
      ondemand::value element;
      if (std::move(next).get(element)) return bad_json();
      if (!read(element, out.emplace_back())) {
        return within(fmt::format("[{}]", out.size() - 1));
      }
    }
    // There are very many short lists, but no second copy of a long one.
    if (out.size() < 1024) out.shrink_to_fit();
    return true;
  }

  Error error() const { return {path_.starts_with('.') ? path_.substr(1) : path_, what_, {}}; }

 private:
  template <typename AnyRow, typename T>
  bool read_once(const AnyRow& row, std::uint64_t bit, std::uint64_t& seen, ondemand::value json,
                 T& out) {
    const bool twice = (seen & bit) != 0;
    seen |= bit;
    const bool ok = twice ? fail("given twice") : read_row(row, json, out);
    return ok || within(fmt::format(".{}", row.name));
  }

  template <Presence P, Form F, typename Get, typename T>
  bool read_row(const Row<P, F, Get>& row, ondemand::value json, T& out) {
    auto& member = std::invoke(row.get, out);
    if constexpr (F == Form::schema) {
      std::string name;
      if (!read(json, name)) return false;
      const Result<int> minor = schema_minor(name);
      if (!minor) return fail(minor.error().what);
      member = *minor;
      return true;
    } else {
      if (!read(json, member)) return false;
      if constexpr (F == Form::fraction) {
        if (!(member >= 0 && member <= 1)) return expected("a number from 0 to 1", json);
      } else if constexpr (F == Form::fingerprint) {
        if (!is_fingerprint(member)) {
          return fail(fmt::format("expected 16 hex digits, found {}", in_quotes(member)));
        }
      }
      return true;
    }
  }

  template <Presence P, typename Described, typename T>
  bool read_row(const Group<P, Described>& group, ondemand::value json, T& out) {
    ondemand::object object;
    if (json.get_object().get(object)) return expected("an object", json);
    return read_object(group.object, object, out);
  }

  template <typename Described>
  bool all_required(const Described& description, std::uint64_t seen) {
    std::uint64_t bit = 1;
    std::string_view missing;
    const auto look = [&]<typename AnyRow>(const AnyRow& row) {
      if (AnyRow::kPresence == Presence::required && (seen & bit) == 0 && missing.empty()) {
        missing = row.name;
      }
      bit <<= 1;
    };
    std::apply([&](const auto&... rows) { (look(rows), ...); }, description.rows);
    return missing.empty() || fail(fmt::format("\"{}\" is missing", missing));
  }

  template <typename T>
  bool read_whole(ondemand::value json, T& out) {
    using Widest = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    Widest number = 0;
    if (json.get(number) || !std::in_range<T>(number)) {
      const std::string what = found(json);
      const bool numeric = what.front() == '-' || (what.front() >= '0' && what.front() <= '9');
      if (!numeric) return expected("a whole number", json);
      return expected(fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                                  std::numeric_limits<T>::max()),
                      json);
    }
    out = static_cast<T>(number);
    return true;
  }

  bool read_module(ondemand::value json, ModuleId& out) {
    if (!read_whole(json, out.index)) return false;
    if (out.index < modules_) return true;
    return fail(fmt::format("no such module: {}, the report has {}", out.index, modules_));
  }

  template <typename Enum>
  bool read_word(ondemand::value json, Enum& out) {
    std::string word;
    if (!read(json, word)) return false;
    if (const std::optional<Enum> value = value_of<Enum>(word)) {
      out = *value;
      return true;
    }
    std::string words;
    for (const auto& [value, name] : kNames<Enum>) {
      if (!words.empty()) words += ", ";
      words += name;
    }
    return fail(fmt::format("expected one of {}; found {}", words, in_quotes(word)));
  }

  bool read_unknown(const Entry& entry, Extra& extra) {
    std::string name(entry.name);
    const std::optional<std::string_view> raw = raw_of(entry.value);
    if (!raw || find_flaw(*raw)) return bad_json();
    extra.emplace_back(std::move(name), *raw);
    return true;
  }

  bool no_name_twice(const Extra& extra) {
    if (extra.size() < 2) return true;
    std::vector<std::string_view> names;
    for (const auto& [name, raw] : extra) names.push_back(name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    return twice == names.end() || fail(fmt::format("{} is given twice", in_quotes(*twice)));
  }

  bool fail(std::string what) {
    what_ = std::move(what);
    return false;
  }
  bool expected(std::string_view what, ondemand::value json) {
    return fail(fmt::format("expected {}, found {}", what, found(json)));
  }
  // The text is no JSON, so find_flaw of the whole will have the better words.
  bool bad_json() { return fail("not valid JSON"); }
  bool within(std::string_view part) {
    path_.insert(0, part);
    return false;
  }

  std::size_t modules_;
  std::string path_;
  std::string what_;
};

// What must be known before the rest can be read: whether this is a report of
// ours at all, and how many modules frames may refer to.
struct Outline {
  int minor = 0;
  std::size_t modules = 0;
};

Result<Outline> read_outline(ondemand::object root) {
  Outline outline;
  bool has_schema = false;
  bool has_modules = false;
  for (simdjson::simdjson_result<ondemand::field> field : root) {
    const std::optional<Entry> entry = entry_of(std::move(field));
    if (!entry) return fail("", "not valid JSON");
    ondemand::value value = entry->value;
    if (entry->name == "schema") {
      const std::optional<std::string_view> name = text_of(value);
      if (!name) return fail("schema", fmt::format("expected a string, found {}", found(value)));
      const Result<int> minor = schema_minor(*name);
      if (!minor) return std::unexpected(minor.error());
      outline.minor = *minor;
      has_schema = true;
    } else if (entry->name == "modules") {
      ondemand::array modules;
      if (value.get_array().get(modules)) continue;  // told when it is read
      for (simdjson::simdjson_result<ondemand::value> module : modules) {
        if (module.error()) return fail("", "not valid JSON");
        ++outline.modules;
      }
      has_modules = true;
    }
    if (has_schema && has_modules) break;
  }
  if (!has_schema) return not_a_report("no \"schema\"");
  return outline;
}

Result<Report> read_document(std::string_view text) {
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object root;
  if (const simdjson::error_code error = parser.iterate(padded).get(document)) {
    return fail("", fmt::format("not valid JSON: {}", simdjson::error_message(error)));
  }
  if (document.get_object().get(root)) return not_a_report("no object with a \"schema\"");
  const Result<Outline> outline = read_outline(root);
  if (!outline) return std::unexpected(outline.error());

  document.rewind();
  if (document.get_object().get(root)) return fail("", "not valid JSON");
  Report report;
  Reader reader(outline->modules);
  if (!reader.read_object(kObject<Report>, root, report)) {
    Error error = reader.error();
    if (outline->minor > 0) {
      error.hint = fmt::format("the report is {}/{}.{}, this build knows {}.0", kSchemaName,
                               kSchemaMajor, outline->minor, kSchemaMajor);
    }
    return std::unexpected(std::move(error));
  }
  // A location means that something stands behind the last brace.
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return fail("", "not valid JSON");
  }
  return report;
}

}  // namespace
}  // namespace json

Result<Report> read_json(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (trim(text).empty()) return fail("", "empty file: not a report");
  if (text.size() > simdjson::SIMDJSON_MAXSIZE_BYTES - simdjson::SIMDJSON_PADDING) {
    return fail("", "larger than 4 GB: this build cannot read it");
  }
  Result<Report> report = json::read_document(text);
  if (!report) {
    if (const std::optional<json::Flaw> flaw = json::find_flaw(text)) {
      return fail(json::line_and_column(text, flaw->offset),
                  fmt::format("not valid JSON: {}", flaw->what),
                  flaw->offset < text.size() ? "" : "the file seems to be cut off at its end");
    }
    return report;
  }
  // The text's index and copy are freed by now.
  if (Result<void> sums = check_totals(*report); !sums) return std::unexpected(sums.error());
  return report;
}

}  // namespace plumb
