#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text.h"
#include "core/suppression.h"
#include "core/suppression_languages.h"

namespace plumb {

namespace {

enum class Language { none, toml, valgrind, lsan, unknown };

// By the first line that says something.
Language language_of(std::string_view text) {
  Lines lines(text);
  if (!lines.next()) return Language::none;
  const std::string_view line = lines.text();
  if (line.front() == '{') return Language::valgrind;
  if (line.front() == '[') return Language::toml;
  const std::size_t mark = line.find_first_of(":=\"' \t");
  if (mark == line.npos || mark == 0) return Language::unknown;
  if (line[mark] == ':') return Language::lsan;
  return line.find('=') != line.npos ? Language::toml : Language::unknown;
}

// The line of the first byte that no text has.
std::size_t line_of_bad_byte(std::string_view text) {
  std::size_t number = 1;
  for (const std::string_view line : split(text, '\n')) {
    if (!is_utf8(line) || line.find('\0') != line.npos) return number;
    ++number;
  }
  return number;
}

}  // namespace

std::string place_in(std::string_view file, std::size_t line) {
  return fmt::format("{}:{}", file, line);
}

bool Lines::next() {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    line_ = trim(rest_.substr(0, end));
    rest_ = end == rest_.npos ? std::string_view() : rest_.substr(end + 1);
    ++number_;
    if (!line_.empty() && line_.front() != '#') return true;
  }
  return false;
}

Result<std::vector<Suppression>> parse_suppressions(std::string_view text, std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!is_utf8(text) || text.find('\0') != text.npos) {
    return fail(place_in(file, line_of_bad_byte(text)), "this is not UTF-8 text",
                "give a text file with suppressions: plumb, Valgrind or LeakSanitizer");
  }
  switch (language_of(text)) {
    case Language::none:
      return {};
    case Language::toml:
      return parse_toml_suppressions(text, file);
    case Language::valgrind:
      return parse_valgrind_suppressions(text, file);
    case Language::lsan:
      return parse_lsan_suppressions(text, file);
    case Language::unknown:
      break;
  }
  Lines lines(text);
  lines.next();
  return fail(place_in(file, lines.number()), "this is no suppression in any language known",
              "start an entry with [[suppress]] (plumb), { (Valgrind) or leak: (LeakSanitizer)");
}

}  // namespace plumb
