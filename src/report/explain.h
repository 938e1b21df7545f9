// The words for every finding kind, cause of a loss and kind of path: what it
// means, how it comes about, an example, the remedy, what it is not.
//
// There is one copy of them, the pages docs/findings/WORD.md. They are built
// in (finding_pages.h); SARIF rules and `plumb explain` show the same text. A
// page is a title, a summary of one sentence, then sections, in the small part
// of Markdown that plain_text() knows: headings, paragraphs, fenced code,
// `code`, *emphasis*, [links](to).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/leak.h"

namespace plumb {

struct Explanation {
  std::string_view word;      // "scope-end"
  std::string_view title;     // without full stop
  std::string_view summary;   // one sentence
  std::string_view markdown;  // the page without its title
};

// Takes a word of a report ("lost", "scope-end", "error-path") or the id of a
// rule ("leak/lost", "leak/lost/scope-end").
std::optional<Explanation> explain(std::string_view word);

// The words of kinds, causes and paths, in the order of the report.
std::vector<std::string_view> explainable_words();

// The rule that a leak breaks: "leak/lost/scope-end" where the cause is known,
// else "leak/KIND".
std::string rule_id(Kind kind, std::optional<Cause> cause = std::nullopt);
std::string rule_id(const Leak& leak);

// What happened to the last reference, as the end of a sentence: "the last
// reference was overwritten".
std::string_view phrase(Cause cause);

// On which kind of path: "on an error path".
std::string_view phrase(When when);

// Markdown of the pages as text for a terminal. Paragraphs are broken at
// `width` columns (0: not at all), code never is.
std::string plain_text(std::string_view markdown, std::size_t width = 0);

}  // namespace plumb
