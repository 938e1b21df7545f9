#include "run/closing_brace.h"

namespace plumb {

std::optional<std::uint32_t> closing_brace(SourceCache& sources, const std::string& file,
                                           std::uint32_t declaration) {
  constexpr std::uint32_t kMostLines = 2000;
  int depth = 0;
  bool in_comment = false;
  for (std::uint32_t number = declaration; number < declaration + kMostLines; ++number) {
    if (!sources.has_line(file, number)) return std::nullopt;
    const std::string_view line = sources.line(file, number);
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char at = line[i];
      const char next = i + 1 < line.size() ? line[i + 1] : 0;
      if (in_comment) {
        if (at == '*' && next == '/') in_comment = false, ++i;
      } else if (quote != 0) {
        if (at == '\\') ++i;
        if (at == quote) quote = 0;
      } else if (at == '/' && next == '/') {
        break;
      } else if (at == '/' && next == '*') {
        in_comment = true, ++i;
      } else if (at == '"' || at == '\'') {
        quote = at;
      } else if (at == '{') {
        ++depth;
      } else if (at == '}' && depth-- == 0) {
        // One on the declaration's own line may be of a block before it.
        return number == declaration ? std::nullopt : std::optional(number);
      }
    }
  }
  return std::nullopt;
}

}  // namespace plumb
