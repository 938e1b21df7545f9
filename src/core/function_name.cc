#include "core/function_name.h"

#include <algorithm>
#include <array>

namespace plumb {

namespace {

constexpr auto kNowhere = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// What compilers put behind a dot when they make a second body of a function.
constexpr std::array<std::string_view, 14> kCloneWords = {
    "isra",      "constprop",   "part",    "cold",   "llvm",  "lto_priv", "localalias",
    "simdclone", "specialized", "default", "__uniq", "actor", "resume",   "destroy"};

// Cuts trailing ".word" and ".number" groups while they are the compiler's.
std::string_view without_clone_suffixes(std::string_view name) {
  while (true) {
    const std::size_t dot = name.rfind('.');
    if (dot == kNowhere || dot == 0) return name;
    const std::string_view word = name.substr(dot + 1);
    if (!all_digits(word) && std::ranges::find(kCloneWords, word) == kCloneWords.end()) return name;
    name = name.substr(0, dot);
  }
}

// Cuts " [clone .cold]" and " (.cold)" groups, as demanglers print them.
std::string_view without_clone_groups(std::string_view name) {
  while (true) {
    std::size_t open = kNowhere;
    if (name.ends_with(']')) open = name.rfind(" [clone ");
    if (name.ends_with(')')) open = name.rfind(" (.");
    if (open == kNowhere || name.substr(open + 2).find_first_of("])") != name.size() - open - 3) {
      return name;
    }
    name = name.substr(0, open);
  }
}

std::string_view without_version(std::string_view name) {
  const std::size_t at = name.find('@');
  return at == kNowhere || at == 0 ? name : name.substr(0, at);
}

// Where the text at `at` is a number that only counts lambdas or unnamed types
// ("{lambda(int)#2}", "$_3", "'lambda4'"), its length; else 0.
std::size_t counter_length(std::string_view name, std::size_t at) {
  const std::string_view before = name.substr(0, at);
  const bool quoted = before.ends_with("'lambda") || before.ends_with("'unnamed");
  if (!quoted && !before.ends_with("$_")) return 0;
  std::size_t end = at;
  while (end < name.size() && is_digit(name[end])) ++end;
  if (quoted && (end == name.size() || name[end] != '\'')) return 0;
  return end - at;
}

// "#2" before a closing brace.
std::size_t ordinal_length(std::string_view name, std::size_t at) {
  if (name[at] != '#') return 0;
  std::size_t end = at + 1;
  while (end < name.size() && is_digit(name[end])) ++end;
  return end > at + 1 && end < name.size() && name[end] == '}' ? end - at : 0;
}

std::size_t abi_tag_length(std::string_view name, std::size_t at) {
  if (!name.substr(at).starts_with("[abi:")) return 0;
  const std::size_t close = name.find(']', at);
  return close == kNowhere ? 0 : close - at + 1;
}

std::size_t noise_length(std::string_view name, std::size_t at) {
  switch (name[at]) {
    case '[':
      return abi_tag_length(name, at);
    case '#':
      return ordinal_length(name, at);
    default:
      return is_digit(name[at]) ? counter_length(name, at) : 0;
  }
}

// "operator" at `at` as a whole word.
bool is_operator_word(std::string_view name, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  if (!name.substr(at).starts_with(kWord)) return false;
  if (at > 0 && is_word(name[at - 1])) return false;
  return at + kWord.size() >= name.size() || !is_word(name[at + kWord.size()]);
}

std::string_view without_parameters(std::string_view name) {
  constexpr std::array<std::string_view, 4> kQualifiers = {" const", " volatile", " &&", " &"};
  std::string_view head = name;
  bool again = true;
  while (again) {
    again = false;
    for (const std::string_view qualifier : kQualifiers) {
      if (head.ends_with(qualifier)) {
        head.remove_suffix(qualifier.size());
        again = true;
      }
    }
  }
  if (!head.ends_with(')')) return name;
  std::size_t depth = 0;
  for (std::size_t at = head.size(); at-- > 0;) {
    if (head[at] == ')') ++depth;
    if (head[at] == '(' && --depth == 0) {
      const std::string_view stem = head.substr(0, at);
      const bool call_operator = stem.ends_with("operator") && is_operator_word(stem, at - 8);
      return stem.empty() || call_operator ? name : stem;
    }
  }
  return name;
}

std::string_view without_return_type(std::string_view name) {
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (depth == 0 && c == 'o' && is_operator_word(name, at)) break;
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
    // "f() const::{lambda()}": the blank belongs to the enclosing function.
    if (depth == 0 && c == ' ' && !name.substr(at + 1).starts_with("const::")) start = at + 1;
  }
  return start < name.size() ? name.substr(start) : name;
}

}  // namespace

std::string normalised_function(std::string_view function) {
  std::string_view rest = without_version(function);
  rest = without_clone_suffixes(without_clone_groups(rest));

  std::string name;
  name.reserve(rest.size());
  // A tag that never closes must not cost a scan to the end each time.
  const std::size_t last_close = rest.rfind(']');
  for (std::size_t at = 0; at < rest.size();) {
    const bool unclosed = rest[at] == '[' && (last_close == kNowhere || last_close < at);
    const std::size_t noise = unclosed ? 0 : noise_length(rest, at);
    if (noise > 0) {
      at += noise;
      continue;
    }
    if (is_blank(rest[at])) {
      while (at < rest.size() && is_blank(rest[at])) ++at;
      const bool edge = name.empty() || at == rest.size();
      const bool between_angles = !edge && name.back() == '>' && rest[at] == '>';
      if (!edge && !between_angles) name += ' ';
      continue;
    }
    name += rest[at++];
  }
  return name;
}

std::string_view function_stem(std::string_view normalised) {
  return without_return_type(without_parameters(normalised));
}

std::string without_template_arguments(std::string_view name) {
  std::string stem;
  std::size_t depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) stem += c;
    if (c == '>' && depth > 0) --depth;
  }
  return stem;
}

}  // namespace plumb
