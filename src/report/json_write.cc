// Writes the tables of json_fields.h. Objects are spread over lines as far as
// a reader profits, and closed up below that: a frame, a count, a module is
// one line, so that 100,000 leaks stay readable and near a kilobyte each.
// The same report gives the same bytes: no maps, no locale, shortest decimals.

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/names.h"
#include "report/json.h"
#include "report/json_fields.h"
#include "report/json_string.h"

namespace plumb {
namespace json {
namespace {

template <typename T>
bool says_nothing(const T& value) {
  if constexpr (kIsObject<T>) {
    return value == T{};
  } else {
    static_assert(std::is_same_v<T, bool>, "a figure is always written");
    return !value;
  }
}
bool says_nothing(const std::string& text) { return text.empty(); }
template <typename T>
bool says_nothing(const std::vector<T>& list) {
  return list.empty();
}
template <typename T>
bool says_nothing(const std::optional<T>& value) {
  if constexpr (std::is_floating_point_v<T>) {
    // JSON has no infinity: a rate that is not a number is not known.
    return !value || !std::isfinite(*value);
  } else {
    return !value;
  }
}

// Each distinct frame, as text, in the order of its first use.
class FrameNumbers {
 public:
  std::uint32_t number(std::string text) {
    const auto [at, fresh] =
        numbers_.try_emplace(std::move(text), static_cast<std::uint32_t>(numbers_.size()));
    if (fresh) order_.push_back(&at->first);
    return at->second;
  }
  std::string list() const {
    std::string out = "[";
    for (const std::string* text : order_) {
      if (out.size() > 1) out += ",\n";
      out += *text;
    }
    return out + ']';
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> order_;
};

class Writer {
 public:
  // With a table, frames stand there and their numbers in their places, and
  // nothing is spread over lines.
  explicit Writer(FrameNumbers* frames = nullptr) : on_line_(frames != nullptr), frames_(frames) {}

  template <typename T>
  void value(const T& value) {
    if constexpr (kIsObject<T>) {
      const std::size_t start = out_.size();
      object(kObject<T>, value);
      if constexpr (std::is_same_v<T, Frame>) {
        if (frames_ != nullptr) number_of_frame(start);
      }
    } else if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, ModuleId>) {
      number(value.index);
    } else if constexpr (std::is_enum_v<T>) {
      append_string(out_, name_of(value));
    } else {
      static_assert(std::is_arithmetic_v<T>);
      number(value);
    }
  }
  void value(const std::string& text) { append_string(out_, text); }
  template <typename T>
  void value(const std::optional<T>& present) {
    value(*present);
  }
  template <typename T>
  void value(const std::vector<T>& list) {
    const bool spread = kIsObject<T> && !on_line_ && !list.empty();
    out_ += '[';
    ++depth_;
    bool first = true;
    for (const T& element : list) {
      separate(first, spread);
      value(element);
    }
    --depth_;
    if (spread) new_line();
    out_ += ']';
  }

  template <typename Described, typename T>
  void object(const Described& description, const T& from) {
    const bool spread = description.layout == Layout::block && !on_line_;
    const bool outer_on_line = on_line_;
    on_line_ = !spread;
    out_ += '{';
    ++depth_;
    bool first = true;
    std::apply([&](const auto&... rows) { (member(rows, from, first, spread), ...); },
               description.rows);
    for (const auto& [name, raw] : std::invoke(description.extra, from)) {
      separate(first, spread);
      append_string(out_, name);
      out_ += ": ";
      out_ += raw;
    }
    --depth_;
    if (spread && !first) new_line();
    out_ += '}';
    on_line_ = outer_on_line;
  }

  std::string take() {
    out_ += '\n';
    return std::move(out_);
  }

 private:
  void number_of_frame(std::size_t start) {
    const std::uint32_t number = frames_->number(out_.substr(start));
    out_.resize(start);
    this->number(number);
  }

  template <Presence P, Form F, typename Get, typename T>
  void member(const Row<P, F, Get>& row, const T& from, bool& first, bool spread) {
    const auto& member = std::invoke(row.get, from);
    if constexpr (P == Presence::optional) {
      if (says_nothing(member)) return;
    }
    separate(first, spread);
    name(row.name);
    if constexpr (F == Form::schema) {
      schema(member);
    } else {
      value(member);
    }
  }

  template <Presence P, typename Described, typename T>
  void member(const Group<P, Described>& group, const T& from, bool& first, bool spread) {
    if constexpr (P == Presence::optional) {
      if (group_says_nothing(group.object, from)) return;
    }
    separate(first, spread);
    name(group.name);
    object(group.object, from);
  }

  template <typename Described, typename T>
  static bool group_says_nothing(const Described& description, const T& from) {
    return std::invoke(description.extra, from).empty() &&
           std::apply(
               [&](const auto&... rows) {
                 return (says_nothing(std::invoke(rows.get, from)) && ...);
               },
               description.rows);
  }

  void schema(int minor) {
    out_ += '"';
    out_ += kSchemaName;
    out_ += '/';
    number(kSchemaMajor);
    if (minor != 0) {
      out_ += '.';
      number(minor);
    }
    out_ += '"';
  }

  template <typename T>
  void number(T value) {
    if constexpr (std::is_floating_point_v<T>) PLUMB_CHECK(std::isfinite(value));
    char digits[32];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, value);
    out_.append(digits, end.ptr);
  }

  void name(std::string_view name) {
    out_ += '"';
    out_ += name;
    out_ += "\": ";
  }

  void separate(bool& first, bool spread) {
    if (!first) out_ += spread ? "," : ", ";
    first = false;
    if (spread) new_line();
  }

  void new_line() {
    out_ += '\n';
    out_.append(2 * depth_, ' ');
  }

  std::string out_;
  std::size_t depth_ = 0;
  bool on_line_;  // inside an object that is kept on one line
  FrameNumbers* frames_;
};

}  // namespace
}  // namespace json

CompactJson write_compact_json(const Report& report) {
  json::FrameNumbers frames;
  json::Writer writer(&frames);
  writer.value(report);
  return {writer.take(), frames.list()};
}

std::string write_json(const Report& report) {
  json::Writer writer;
  writer.value(report);
  return writer.take();
}

}  // namespace plumb
