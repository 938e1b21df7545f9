// plumb explain: what a word of a report, or one of its leaks, means.

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "core/accounting.h"
#include "core/filter.h"
#include "driver/command.h"
#include "driver/input.h"
#include "driver/progress.h"
#include "driver/screen.h"
#include "report/explain.h"
#include "report/text.h"
#include "report/text_flow.h"

namespace plumb {

namespace {

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kFewestDigits = 4;  // fewer would rather be a word

bool looks_like_id(std::string_view word) {
  return word.size() >= kFewestDigits && word.size() <= kIdDigits &&
         word.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string page_of(const Explanation& page, const Screen& screen) {
  const Page paper{.width = screen.width, .color = screen.color};
  return fmt::format("{}: {}\n\n{}", paper.paint(page.word, Tone::strong), page.title,
                     plain_text(page.markdown, screen.width));
}

std::unexpected<Error> unknown_word(std::string_view word) {
  const std::string_view near = nearest(word, explainable_words());
  return fail({}, fmt::format("there is nothing to explain under '{}'", word),
              near.empty() ? fmt::format("the words are {}", fmt::join(explainable_words(), ", "))
                           : fmt::format("did you mean '{}'?", near));
}

// The leak in full, then what its kind, cause and path mean.
Result<std::string> explain_leak(const std::string& id, Report report, const std::string& file,
                                 const Screen& screen) {
  const auto matches = [&](const Leak& leak) { return leak.id.starts_with(id); };
  const auto count = std::ranges::count_if(report.leaks, matches);
  if (count == 0) {
    return fail(file, fmt::format("there is no leak {} in it", id),
                "`plumb report` shows the ids of its leaks");
  }
  if (count > 1 && id.size() < kIdDigits) {
    return fail(file, fmt::format("{} leaks start with {}", count, id), "give more digits");
  }
  filter_leaks(report, matches);
  recount_hidden(report);
  RenderOptions options;
  options.color = screen.color;
  options.width = screen.width;
  options.show_hidden = true;
  options.verbose = true;
  std::string text = write_text(report, options);

  const Leak& leak = report.leaks.front();
  std::vector<std::string_view> words = {name_of(leak.kind)};
  if (leak.loss && leak.loss->cause) words.push_back(name_of(*leak.loss->cause));
  if (leak.when) words.push_back(name_of(*leak.when));
  for (const std::string_view word : words) {
    if (const std::optional<Explanation> page = explain(word)) {
      text += '\n' + page_of(*page, screen);
    }
  }
  return text;
}

}  // namespace

Result<Ending> command_explain(const Invocation& call) {
  const Settings& settings = call.settings;
  if (call.words.empty()) {
    return fail({}, "nothing to explain was named",
                fmt::format("the words are {}", fmt::join(explainable_words(), ", ")));
  }
  if (call.words.size() > 2) {
    return fail({}, fmt::format("'{}' is too much", call.words[2]),
                "write `plumb explain WORD` or `plumb explain ID REPORT`");
  }
  const std::string& word = call.words.front();
  const Screen screen = screen_of(STDOUT_FILENO, settings.text(Opt::color));
  if (call.words.size() == 1) {
    const std::optional<Explanation> page = explain(word);
    if (!page && looks_like_id(word)) {
      return fail({}, fmt::format("{} looks like the id of a leak, but no report was named", word),
                  fmt::format("write `plumb explain {} REPORT`", word));
    }
    if (!page) return unknown_word(word);
    if (const Result<void> good = write_stream(STDOUT_FILENO, page_of(*page, screen)); !good) {
      return std::unexpected(good.error());
    }
    return Ending{};
  }
  if (!looks_like_id(word)) {
    return fail({}, fmt::format("'{}' is not the id of a leak", word),
                explain(word) ? fmt::format("write `plumb explain {}` for the word", word)
                              : std::string("an id has 16 hexadecimal digits; its first 4 or more "
                                            "will do"));
  }
  Result<Report> report = [&] {
    const Progress progress(settings, "reading " + call.words[1]);
    return load_report(call.words[1]);
  }();
  if (!report) return std::unexpected(report.error());
  Result<std::string> text = explain_leak(word, std::move(*report), call.words[1], screen);
  if (!text) return std::unexpected(text.error());
  if (const Result<void> good = write_stream(STDOUT_FILENO, *text); !good) {
    return std::unexpected(good.error());
  }
  return Ending{};
}

}  // namespace plumb
