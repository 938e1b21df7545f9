#include "report/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "report/finding_pages.h"

namespace plumb {
namespace {

constexpr std::string_view kRulePrefix = "leak/";
constexpr std::string_view kTitleMark = "# ";

// Cuts the first line off `text`.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// "leak/lost/overwritten" -> "overwritten", "leak/lost" -> "lost". Only ids
// that exist: "leak/overwritten" stays what it is and is found nowhere.
std::string_view word_of_rule(std::string_view id) {
  if (!id.starts_with(kRulePrefix)) return id;
  const std::string_view tail = id.substr(kRulePrefix.size());
  if (value_of<Kind>(tail)) return tail;
  const std::size_t slash = tail.find('/');
  if (slash == std::string_view::npos || tail.substr(0, slash) != name_of(Kind::lost)) return id;
  const std::string_view cause = tail.substr(slash + 1);
  return value_of<Cause>(cause) ? cause : id;
}

// One paragraph or heading without its marks.
std::string without_marks(std::string_view text) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '`') {
      code = !code;
    } else if (code) {
      out += c;
    } else if (c == '[') {
      const std::size_t middle = text.find(']', i);
      const bool link = text.substr(std::min(middle, text.size())).starts_with("](");
      const std::size_t end = link ? text.find(')', middle) : std::string_view::npos;
      if (end == std::string_view::npos) {
        out += c;
        continue;
      }
      out += without_marks(text.substr(i + 1, middle - i - 1));
      i = end;
    } else if (c != '*') {
      out += c;
    }
  }
  return out;
}

void append_wrapped(std::string& out, const std::string& text, std::size_t width) {
  std::size_t column = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (column > 0 && width > 0 && column + 1 + word.size() > width) {
      out += '\n';
      column = 0;
    }
    if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  out += '\n';
}

template <typename Enum>
void append_names(std::vector<std::string_view>& words) {
  for (const auto& [value, name] : kNames<Enum>) words.push_back(name);
}

}  // namespace

std::optional<Explanation> explain(std::string_view word) {
  word = word_of_rule(word);
  for (const FindingPage& page : finding_pages()) {
    if (page.word != word) continue;
    std::string_view rest = page.markdown;
    const std::string_view title = take_line(rest);
    PLUMB_CHECK(title.starts_with(kTitleMark));
    rest = trim(rest);
    std::string_view after = rest;
    const std::string_view summary = take_line(after);
    return Explanation{page.word, title.substr(kTitleMark.size()), summary, rest};
  }
  return std::nullopt;
}

std::vector<std::string_view> explainable_words() {
  std::vector<std::string_view> words;
  append_names<Kind>(words);
  append_names<Cause>(words);
  append_names<When>(words);
  return words;
}

std::string rule_id(Kind kind, std::optional<Cause> cause) {
  std::string id = fmt::format("{}{}", kRulePrefix, name_of(kind));
  if (kind == Kind::lost && cause) id += fmt::format("/{}", name_of(*cause));
  return id;
}

std::string rule_id(const Leak& leak) {
  return rule_id(leak.kind, leak.loss ? leak.loss->cause : std::nullopt);
}

std::string_view phrase(Cause cause) {
  switch (cause) {
    case Cause::overwritten:
      return "the last reference was overwritten";
    case Cause::scope_end:
      return "the last reference went out of scope";
    case Cause::holder_freed:
      return "the block that held the last reference was freed";
    case Cause::holder_lost:
      return "the block that held the last reference was lost";
    case Cause::unmapped:
      return "the memory that held the last reference was unmapped";
    case Cause::thread_end:
      return "the thread that held the last reference ended";
    case Cause::discarded:
      return "the result was not taken";
    case Cause::escaped_throw:
      return "an exception left the scope that held the last reference";
  }
  return {};
}

std::string_view phrase(When when) {
  switch (when) {
    case When::ordinary:
      return "on an ordinary path";
    case When::error_path:
      return "on an error path";
    case When::throwing:
      return "on a path with an exception";
    case When::main_exit:
      return "only when the program ends";
    case When::oom:
      return "only when memory runs out";
    case When::global:
      return "in a global that nothing frees";
  }
  return {};
}

std::string plain_text(std::string_view markdown, std::size_t width) {
  std::string out;
  bool code = false;
  while (!markdown.empty()) {
    const std::string_view line = take_line(markdown);
    if (line.starts_with("```")) {
      code = !code;
    } else if (code) {
      out += line.empty() ? "\n" : fmt::format("    {}\n", line);
    } else if (line.starts_with('#')) {
      const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
      out += fmt::format("{}\n", without_marks(trim(line.substr(level))));
    } else {
      append_wrapped(out, without_marks(line), width);
    }
  }
  return out;
}

}  // namespace plumb
