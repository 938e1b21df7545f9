#include "run/next_statement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

namespace plumb {

namespace {

constexpr std::uint32_t kMostLines = 30;

struct Token {
  std::string_view text;
  std::uint32_t line = 0;
};

bool is_word(char at) { return std::isalnum(static_cast<unsigned char>(at)) != 0 || at == '_'; }

// Names, numbers and single signs; strings as one, without comments.
class Lexer {
 public:
  Lexer(SourceCache& sources, const std::string& file, std::uint32_t line)
      : sources_(sources), file_(file), first_(line), line_(line) {}

  // Nothing at the end of what is looked at.
  std::optional<Token> next() {
    while (true) {
      if (line_ - first_ > kMostLines || !sources_.has_line(file_, line_)) return std::nullopt;
      const std::string_view text = sources_.line(file_, line_);
      if (at_ >= text.size() || text.substr(at_).starts_with("//")) {
        ++line_;
        at_ = 0;
      } else if (in_comment_ || text.substr(at_).starts_with("/*")) {
        skip_comment(text);
      } else if (std::isspace(static_cast<unsigned char>(text[at_])) != 0) {
        ++at_;
      } else {
        return take(text);
      }
    }
  }

 private:
  void skip_comment(std::string_view text) {
    const std::size_t end = text.find("*/", in_comment_ ? at_ : at_ + 2);
    in_comment_ = end == std::string_view::npos;
    at_ = in_comment_ ? text.size() : end + 2;
  }
  Token take(std::string_view text) {
    const std::size_t begin = at_;
    if (const char quote = text[at_]; quote == '"' || quote == '\'') {
      for (++at_; at_ < text.size() && text[at_] != quote; ++at_) at_ += text[at_] == '\\' ? 1 : 0;
      at_ = std::min(at_ + 1, text.size());
    } else if (is_word(text[at_])) {
      while (at_ < text.size() && is_word(text[at_])) ++at_;
    } else {
      ++at_;
    }
    return {text.substr(begin, at_ - begin), line_};
  }

  SourceCache& sources_;
  const std::string& file_;
  std::uint32_t first_;
  std::uint32_t line_;
  std::size_t at_ = 0;
  bool in_comment_ = false;
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// What begins with these does something else than to go on behind it.
bool leads_elsewhere(std::string_view word) {
  return is_one_of(word,
                   {"return",  "if",   "for",   "while",    "do",    "else", "switch", "case",
                    "default", "goto", "break", "continue", "throw", "try",  "catch",  "co_return",
                    "#",       "{",    "}",     ";",        ")",     "]",    ",",      ".",
                    "?",       ":",    "=",     "+",        "<",     ">",    "&",      "|"});
}

// `name = ... name ...`, outside of brackets.
bool sets_what_it_reads(const std::vector<Token>& statement) {
  int depth = 0;
  for (std::size_t i = 1; i + 1 < statement.size(); ++i) {
    const std::string_view text = statement[i].text;
    if (is_one_of(text, {"(", "[", "{"})) ++depth;
    if (is_one_of(text, {")", "]", "}"})) --depth;
    if (text != "=" || depth != 0) continue;
    const std::string_view name = statement[i - 1].text;
    return std::any_of(statement.begin() + static_cast<std::ptrdiff_t>(i), statement.end(),
                       [&](const Token& token) { return token.text == name; });
  }
  return false;
}

// The statement that begins on this line, without its semicolon; nothing when it is no plain
// one.
std::optional<std::vector<Token>> read_statement(Lexer& lexer, std::uint32_t line) {
  std::vector<Token> statement;
  int depth = 0;
  while (true) {
    const std::optional<Token> token = lexer.next();
    if (!token) return std::nullopt;
    if (statement.empty() && (token->line != line || leads_elsewhere(token->text))) {
      return std::nullopt;
    }
    const std::string_view text = token->text;
    if (text == ";" && depth == 0) break;
    if (is_one_of(text, {"(", "["})) ++depth;
    if (is_one_of(text, {")", "]"}) && depth-- == 0) return std::nullopt;
    // A block, or a label.
    if (depth == 0 && (is_one_of(text, {"{", "}"}) || (statement.size() == 1 && text == ":"))) {
      return std::nullopt;
    }
    statement.push_back(*token);
  }
  return statement;
}

}  // namespace

std::optional<std::uint32_t> next_statement(SourceCache& sources, const std::string& file,
                                            std::uint32_t line) {
  Lexer lexer(sources, file, line);
  const std::optional<std::vector<Token>> statement = read_statement(lexer, line);
  if (!statement || statement->empty() || sets_what_it_reads(*statement)) return std::nullopt;
  const std::uint32_t end = statement->back().line;
  const std::optional<Token> behind = lexer.next();
  if (!behind || behind->line <= end) return std::nullopt;
  if (is_one_of(behind->text, {"else", "case", "default", "catch", "while", "#"})) {
    return std::nullopt;
  }
  if (behind->text != "}") {
    // A label: who comes here comes from elsewhere, too.
    const std::optional<Token> sign = lexer.next();
    const std::optional<Token> third = sign ? lexer.next() : std::nullopt;
    if (!third || (sign->text == ":" && third->text != ":")) return std::nullopt;
  }
  return behind->line;
}

bool sets_from_itself(SourceCache& sources, const std::string& file, std::uint32_t line,
                      std::string_view variable) {
  Lexer lexer(sources, file, line);
  const std::optional<std::vector<Token>> statement = read_statement(lexer, line);
  return statement && statement->size() > 2 && statement->front().text == variable &&
         (*statement)[1].text == "=" && (*statement)[2].text != "=" &&
         sets_what_it_reads(*statement);
}

}  // namespace plumb
