#include "report/json_token.h"

#include <cstddef>
#include <utility>

namespace plumb::json {
namespace {

// A token reaches to the next one. Only what JSON calls blank is cut off.
std::string_view without_blanks(std::string_view token) {
  return token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
}

// Takes a string that was read without simdjson. Left to itself it would take
// "a": "b" for one value when it skips a string that has a colon behind it.
bool step_over(ondemand::value& json) {
  ondemand::raw_json_string string;
  return json.get_raw_json_string().get(string) == simdjson::SUCCESS;
}

}  // namespace

std::optional<Entry> entry_of(simdjson::simdjson_result<ondemand::field> field) {
  ondemand::field member;
  if (std::move(field).get(member)) return std::nullopt;
  const char* const start = member.key().raw();
  const char* const value = member.value().raw_json_token().data();
  const std::string_view rest(start, static_cast<std::size_t>(value - start));
  const std::size_t quote = rest.find('"');
  if (quote != std::string_view::npos && rest.find('\\') >= quote) {
    return Entry{rest.substr(0, quote), member.value()};
  }
  std::string_view name;
  if (member.unescaped_key().get(name)) return std::nullopt;
  return Entry{name, member.value()};
}

std::optional<std::string_view> text_of(ondemand::value json) {
  const std::string_view token = without_blanks(json.raw_json_token());
  std::string_view text;
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"' &&
      token.find('\\') == std::string_view::npos) {
    if (!step_over(json)) return std::nullopt;
    return token.substr(1, token.size() - 2);
  }
  if (json.get_string().get(text)) return std::nullopt;
  return text;
}

std::optional<std::string_view> raw_of(ondemand::value json) {
  std::string_view raw = json.raw_json_token();
  if (raw.starts_with('{')) {
    ondemand::object object;
    if (json.get_object().get(object) || object.raw_json().get(raw)) return std::nullopt;
  } else if (raw.starts_with('[')) {
    ondemand::array array;
    if (json.get_array().get(array) || array.raw_json().get(raw)) return std::nullopt;
  } else if (raw.starts_with('"') && !step_over(json)) {
    return std::nullopt;
  }
  return without_blanks(raw);
}

std::string found(ondemand::value json) {
  const std::string_view token = without_blanks(json.raw_json_token());
  switch (token.empty() ? '\0' : token.front()) {
    case '"':
      return "a string";
    case '{':
      return "an object";
    case '[':
      return "an array";
    case 't':
    case 'f':
      return "a boolean";
    case 'n':
      return "null";
    default:
      return token.size() <= 24 ? std::string(token) : "a number of many digits";
  }
}

}  // namespace plumb::json
