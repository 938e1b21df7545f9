#include "driver/values.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<void> check_choice(const OptionSpec& option, std::string_view word,
                          std::string_view written) {
  if (std::ranges::find(option.choices, word) != option.choices.end()) return {};
  const std::vector<std::string_view> choices(option.choices.begin(), option.choices.end());
  const std::string_view near = nearest(word, choices);
  return fail(
      {}, fmt::format("{}: '{}' is none of {}", written, printable(word), fmt::join(choices, ", ")),
      near.empty() ? std::string{} : fmt::format("did you mean '{}'?", near));
}

}  // namespace

std::vector<std::string> list_words(std::string_view value) {
  std::vector<std::string> words;
  for (const std::string_view part : split(value, ',')) words.emplace_back(trim(part));
  return words;
}

Result<void> check_value(const OptionSpec& option, std::string_view value,
                         std::string_view written) {
  if (option.type != ValueType::flag && value.empty()) {
    return fail({}, fmt::format("{}: the value is empty", written),
                fmt::format("write --{}={}", option.name, option.value_name));
  }
  switch (option.type) {
    case ValueType::flag:
      if (value != "true" && value != "false") {
        return fail({},
                    fmt::format("{}: '{}' is neither true nor false", written, printable(value)));
      }
      return {};
    case ValueType::number: {
      const std::optional<std::uint64_t> number = parse_number(value);
      if (!number || *number < option.least || *number > option.most) {
        return fail({}, fmt::format("{}: '{}' is not a number from {} to {}", written,
                                    printable(value), option.least, option.most));
      }
      return {};
    }
    case ValueType::size:
      if (!parse_size(value)) {
        return fail({}, fmt::format("{}: '{}' is not a size", written, printable(value)),
                    "bytes, or with k, M or G: 512, 4k, 1M");
      }
      return {};
    case ValueType::duration:
      if (!parse_duration(value)) {
        return fail({}, fmt::format("{}: '{}' is not a time", written, printable(value)),
                    "seconds, or with ms, s, m or h: 250ms, 2s, 1m");
      }
      return {};
    case ValueType::text:
    case ValueType::file:
    case ValueType::directory:
      return {};
    case ValueType::choice:
      return check_choice(option, value, written);
    case ValueType::choices:
      for (const std::string& word : list_words(value)) {
        if (Result<void> good = check_choice(option, word, written); !good) return good;
      }
      return {};
  }
  return {};
}

}  // namespace plumb
