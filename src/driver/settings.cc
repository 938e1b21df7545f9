#include "driver/settings.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/text.h"
#include "driver/values.h"
#include "report/text_cells.h"

namespace plumb {

namespace {

constexpr std::pair<Opt, Opt> kConflicts[] = {
    {Opt::quiet, Opt::verbose},
    {Opt::gen_suppressions, Opt::format},
    {Opt::cache, Opt::no_cache},
};

std::string in_quotes(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return printable(literal) + '"';
}

std::string as_toml(const OptionSpec& option, const std::vector<std::string>& values) {
  if (option.is_list()) {
    std::vector<std::string> words;
    for (const std::string& word : values) words.push_back(in_quotes(word));
    return fmt::format("[{}]", fmt::join(words, ", "));
  }
  const std::string& value = values.front();
  switch (option.type) {
    case ValueType::flag:
    case ValueType::number:
      return value;
    default:
      return in_quotes(value);
  }
}

std::string origin_text(Origin origin, const std::string& place) {
  switch (origin) {
    case Origin::preset:
      return "default";
    case Origin::file:
      return place;
    case Origin::environment:
      return "PLUMB_OPTIONS";
    case Origin::command_line:
      return "command line";
  }
  return {};
}

}  // namespace

Settings::Settings(Command command) : command_(command) {
  for (const OptionSpec* option : options_of(command)) {
    Value value;
    if (option->type == ValueType::flag) {
      value.values = {"false"};
    } else if (option->type == ValueType::choices) {
      if (!option->default_value.empty()) value.values = list_words(option->default_value);
    } else if (!option->default_value.empty()) {
      value.values = {std::string(option->default_value)};
    }
    values_.emplace(option->opt, std::move(value));
  }
}

void Settings::set(const OptionSpec& option, std::vector<std::string> values, Origin origin,
                   std::string place) {
  PLUMB_CHECK(option.commands.has(command_));
  Value& value = values_.at(option.opt);
  if (value.origin > origin) return;
  if (option.type == ValueType::choices) {
    std::vector<std::string> words;
    for (const std::string& part : values) {
      for (std::string& word : list_words(part)) {
        if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
      }
    }
    values = std::move(words);
  }
  value = {std::move(values), origin, std::move(place)};
}

Result<void> Settings::resolve_conflicts() {
  for (const auto& [one, other] : kConflicts) {
    if (!values_.contains(one) || !values_.contains(other)) continue;
    const auto active = [&](Opt opt) {
      return spec_of(opt).type == ValueType::flag ? flag(opt) : !is_default(opt);
    };
    if (!active(one) || !active(other)) continue;
    Value& first = values_.at(one);
    Value& second = values_.at(other);
    if (first.origin == second.origin) {
      return fail(
          first.origin == Origin::file ? second.place : std::string{},
          fmt::format("--{} and --{} exclude each other", spec_of(one).name, spec_of(other).name),
          "leave one of them out");
    }
    const Opt loser = first.origin < second.origin ? one : other;
    values_.at(loser) = Settings(command_).values_.at(loser);
  }
  return {};
}

const Settings::Value& Settings::value(Opt opt) const {
  const auto found = values_.find(opt);
  PLUMB_CHECK(found != values_.end());
  return found->second;
}

bool Settings::has(Opt opt) const { return !value(opt).values.empty(); }
bool Settings::is_default(Opt opt) const { return value(opt).origin == Origin::preset; }
bool Settings::on_command_line(Opt opt) const { return value(opt).origin == Origin::command_line; }

bool Settings::flag(Opt opt) const { return value(opt).values.front() == "true"; }

std::uint64_t Settings::number(Opt opt) const {
  const std::string& text = value(opt).values.front();
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  PLUMB_CHECK(problem == std::errc{} && end == text.data() + text.size());
  return number;
}

std::uint64_t Settings::size(Opt opt) const {
  const std::optional<std::uint64_t> bytes = parse_size(value(opt).values.front());
  PLUMB_CHECK(bytes.has_value());
  return *bytes;
}

double Settings::seconds(Opt opt) const {
  const std::optional<double> time = parse_duration(value(opt).values.front());
  PLUMB_CHECK(time.has_value());
  return *time;
}

std::string Settings::text(Opt opt) const {
  const Value& held = value(opt);
  return held.values.empty() ? std::string{} : held.values.front();
}

std::vector<std::string> Settings::list(Opt opt) const { return value(opt).values; }

std::string Settings::describe() const {
  std::vector<std::pair<std::string, std::string>> lines;
  std::size_t width = 0;
  for (const auto& [opt, held] : values_) {
    const OptionSpec& option = spec_of(opt);
    // What cannot stand in a file is no setting; it was only asked for now.
    if (!option.configurable) continue;
    std::string line = held.values.empty()
                           ? fmt::format("# {} is not set", option.name)
                           : fmt::format("{} = {}", option.name, as_toml(option, held.values));
    width = std::max(width, std::min<std::size_t>(line.size(), 40));
    lines.emplace_back(std::move(line),
                       held.values.empty() ? std::string{} : origin_text(held.origin, held.place));
  }
  std::string text = fmt::format("# plumb {}\n", name_of(command_));
  for (const auto& [line, origin] : lines) {
    if (origin.empty()) {
      text += line + '\n';
    } else {
      text += fmt::format("{:<{}}  # {}\n", line, width, printable(origin));
    }
  }
  return text;
}

}  // namespace plumb
