#include "check/condition_text.h"

#include "base/text.h"

namespace plumb::check {

namespace {

constexpr std::size_t kLongest = 60;
constexpr std::string_view kIgnore = "plumb: ignore";

bool ends_here(std::string_view rest) {
  return rest.starts_with(";") || rest.starts_with("{") || rest.starts_with("&&") ||
         rest.starts_with("||") || rest.starts_with("?") || rest.starts_with("//") ||
         rest.starts_with("/*");
}

}  // namespace

std::string condition_at(std::string_view line, std::uint32_t column) {
  if (column == 0 || column > line.size()) return {};
  std::string_view text = line.substr(column - 1);
  // clang swaps the ways instead of negating.
  while (text.starts_with("!") || text.starts_with(" ")) text.remove_prefix(1);
  // A loop's own words are in the way of its condition.
  for (const std::string_view word : {"if", "while", "switch", "for"}) {
    if (!text.starts_with(word)) continue;
    const std::size_t open = text.find('(');
    if (open == text.npos || !trim(text.substr(word.size(), open - word.size())).empty()) continue;
    text.remove_prefix(open + 1);
    if (word != "for") break;
    const std::size_t begin = text.find(';');
    if (begin == text.npos) return {};
    text.remove_prefix(begin + 1);
  }
  int depth = 0;
  char quote = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (quote) {
      if (c == '\\') {
        ++end;
      } else if (c == quote) {
        quote = 0;
      }
      continue;
    }
    if (depth == 0 && ends_here(text.substr(end))) break;
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth < 0) break;
  }
  std::string out(trim(text.substr(0, end)));
  if (out.size() > kLongest) out = out.substr(0, kLongest) + "...";
  return out;
}

std::string ignore_reason(std::string_view line, bool& found) {
  found = false;
  for (const std::string_view comment : {"//", "/*"}) {
    const std::size_t at = line.find(comment);
    if (at == std::string_view::npos) continue;
    const std::size_t word = line.find(kIgnore, at);
    if (word == std::string_view::npos) continue;
    found = true;
    std::string_view reason = line.substr(word + kIgnore.size());
    if (const std::size_t end = reason.find("*/"); end != std::string_view::npos) {
      reason = reason.substr(0, end);
    }
    while (!reason.empty() && (reason[0] == ':' || reason[0] == ' ' || reason[0] == ',')) {
      reason.remove_prefix(1);
    }
    return std::string(trim(reason));
  }
  return {};
}

}  // namespace plumb::check
