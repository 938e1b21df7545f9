#include "core/toml_limits.h"

namespace plumb {

namespace {

// The end of the string that starts at `at` (behind its closing quotes, or the
// end of the text when it is not closed: the parser will say so).
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view triple = text.substr(at, 3);
  const bool multi_line =
      triple.size() == 3 && triple[0] == quote && triple[1] == quote && triple[2] == quote;
  at += multi_line ? 3 : 1;
  while (at < text.size()) {
    if (text[at] == '\\' && quote == '"') {
      at += 2;
    } else if (!multi_line && (text[at] == quote || text[at] == '\n')) {
      return at + (text[at] == quote ? 1 : 0);
    } else if (multi_line && text[at] == quote && text.substr(at, 3) == triple) {
      at += 3;
      // The content may end with one or two quotes of its own.
      for (int own = 0; own < 2 && at < text.size() && text[at] == quote; ++own) ++at;
      return at;
    } else {
      ++at;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> too_deep_toml_line(std::string_view text) {
  std::size_t line = 1;
  std::size_t brackets = 0;
  std::size_t dots = 0;  // in the key or value at hand
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const std::size_t end = end_of_string(text, at);
      for (; at < end; ++at) line += text[at] == '\n' ? 1 : 0;
      continue;
    }
    if (c == '#') {
      at = text.find('\n', at);
      if (at == text.npos) break;
      continue;
    }
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (c == '.') {
      ++dots;
    } else if (c == '=' || c == ',' || c == '\n' || c == '[' || c == '{') {
      dots = 0;
    }
    if (brackets > kDeepestToml || dots > kDeepestToml) return line;
    if (c == '\n') ++line;
    ++at;
  }
  return std::nullopt;
}

}  // namespace plumb
