#include "report/json_string.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "base/text.h"

namespace plumb::json {
namespace {

// What can be copied as it is. All else, the first byte of every UTF-8
// sequence included, is looked at.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x7F; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

std::size_t plain_run(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

void append_special(std::string& out, unsigned character) {
  switch (character) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\t':
      out += "\\t";
      break;
    case '\r':
      out += "\\r";
      break;
    default:
      out += fmt::format("\\u{:04x}", character);
  }
}

// `text` is UTF-8 from here on.
void append_escaped(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = plain_run(text, at);
    out.append(text, at, end - at);
    at = end;
    if (at == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      append_special(out, byte);
      ++at;
    } else if (byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0) {
      append_special(out, static_cast<unsigned char>(text[at + 1]));  // C1 control
      at += 2;
    } else {
      out += text[at++];
      while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
        out += text[at++];
      }
    }
  }
}

}  // namespace

void append_string(std::string& out, std::string_view text) {
  out += '"';
  if (plain_run(text, 0) == text.size()) {
    out += text;
  } else if (is_utf8(text)) {
    append_escaped(out, text);
  } else {
    append_escaped(out, to_utf8(text));
  }
  out += '"';
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  // Cut where a sequence starts, so that the cut itself makes no bad byte.
  std::size_t end = std::min(text.size(), kLongest);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  std::string out;
  append_string(out, text.substr(0, end));
  if (end < text.size()) out += "...";
  return out;
}

}  // namespace plumb::json
