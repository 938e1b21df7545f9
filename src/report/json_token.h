// What the reader asks of simdjson's tokens. Names and strings without escapes
// are taken from the text itself, so that the parser's own buffer for them,
// which would be as large as the text, stays untouched.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <simdjson.h>

namespace plumb::json {

namespace ondemand = simdjson::ondemand;

struct Entry {
  std::string_view name;
  ondemand::value value;
};

// A member of an object, or none when the text is no JSON there.
std::optional<Entry> entry_of(simdjson::simdjson_result<ondemand::field> field);

// The text of a string, or none when the value is no string.
std::optional<std::string_view> text_of(ondemand::value json);

// The bytes of a value of any kind without blanks around; unchecked, except
// that its brackets are as many as they should be. None when not even that.
std::optional<std::string_view> raw_of(ondemand::value json);

// How a value is named in a message: "a string", "null", "-5".
std::string found(ondemand::value json);

}  // namespace plumb::json
