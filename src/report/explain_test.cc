#include "report/explain.h"

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "report/finding_pages.h"

namespace plumb {
namespace {

const std::filesystem::path kPages =
    std::filesystem::path(PLUMB_TEST_DATA).parent_path().parent_path().parent_path() /
    "docs/findings";

std::string page_on_disk(std::string_view word) {
  return read_file((kPages / fmt::format("{}.md", word)).string()).value_or("unreadable");
}

TEST(Explain, EveryWordHasItsPage) {
  const std::vector<std::string_view> words = explainable_words();
  EXPECT_EQ(words.size(),
            std::size(kNames<Kind>) + std::size(kNames<Cause>) + std::size(kNames<When>));
  for (const std::string_view word : words) {
    SCOPED_TRACE(word);
    const std::optional<Explanation> page = explain(word);
    ASSERT_TRUE(page.has_value());
    EXPECT_EQ(page->word, word);
    EXPECT_FALSE(page->title.empty());
    EXPECT_FALSE(page->title.ends_with('.'));
    EXPECT_TRUE(page->summary.ends_with('.'));
    EXPECT_TRUE(page->markdown.starts_with(page->summary));
  }
}

TEST(Explain, EveryPageHasItsWord) {
  const std::vector<std::string_view> words = explainable_words();
  std::set<std::string_view> built_in;
  for (const FindingPage& page : finding_pages()) {
    EXPECT_THAT(words, testing::Contains(page.word));
    EXPECT_TRUE(built_in.insert(page.word).second) << page.word;
  }
  EXPECT_EQ(built_in.size(), words.size());
  for (const auto& entry : std::filesystem::directory_iterator(kPages)) {
    if (entry.path().filename() == "README.md") continue;
    EXPECT_TRUE(built_in.contains(entry.path().stem().string())) << entry.path();
  }
}

TEST(Explain, PagesAreTheFilesByteForByte) {
  for (const FindingPage& page : finding_pages()) {
    EXPECT_EQ(page.markdown, page_on_disk(page.word)) << page.word;
  }
}

TEST(Explain, IndexLinksEveryPage) {
  const std::string index = page_on_disk("README");
  for (const std::string_view word : explainable_words()) {
    EXPECT_THAT(index, testing::HasSubstr(fmt::format("[{}]({}.md)", word, word)));
  }
}

TEST(Explain, PagesHaveTheSameSectionsAndTwoExamples) {
  for (const FindingPage& page : finding_pages()) {
    SCOPED_TRACE(page.word);
    std::vector<std::string> sections;
    std::size_t fences = 0;
    for (const std::string_view line : split(page.markdown, '\n')) {
      if (line.starts_with("## ")) sections.emplace_back(line.substr(3));
      if (line.starts_with("```")) ++fences;
    }
    EXPECT_THAT(sections, testing::ElementsAre("What it means", "How it comes about", "Example",
                                               "How to mend it", "What it is not"));
    EXPECT_EQ(fences, 4U);
  }
}

TEST(Explain, WordsInCodeMarksThatLookLikeFindingsExist) {
  // A page may refer to another kind or cause; a misspelt one would lead
  // nowhere. Words of that shape: lower case with a dash.
  const std::regex reference("`([a-z]+-[a-z]+)`");
  for (const FindingPage& page : finding_pages()) {
    const std::string text(page.markdown);
    for (std::sregex_iterator it(text.begin(), text.end(), reference), end; it != end; ++it) {
      EXPECT_TRUE(explain((*it)[1].str()).has_value()) << page.word << ": " << (*it)[1];
    }
  }
}

TEST(Explain, TakesRuleIds) {
  for (const auto& [kind, name] : kNames<Kind>) {
    ASSERT_TRUE(explain(rule_id(kind)).has_value());
    EXPECT_EQ(explain(rule_id(kind))->word, name);
  }
  for (const auto& [cause, name] : kNames<Cause>) {
    EXPECT_EQ(rule_id(Kind::lost, cause), fmt::format("leak/lost/{}", name));
    ASSERT_TRUE(explain(rule_id(Kind::lost, cause)).has_value());
    EXPECT_EQ(explain(rule_id(Kind::lost, cause))->word, name);
  }
}

TEST(Explain, RefusesWhatIsNoWord) {
  for (const std::string_view word :
       {"", "LOST", "README", "leak/", "leak/overwritten", "leak/stale/overwritten", "leak/lost/",
        "leak/lost/error-path", "leak/error-path", "../findings/lost", "lost/overwritten"}) {
    EXPECT_FALSE(explain(word).has_value()) << word;
  }
}

TEST(Explain, OnlyALossHasACauseInItsRule) {
  Leak leak;
  EXPECT_EQ(rule_id(leak), "leak/lost");
  leak.loss = Loss{};
  EXPECT_EQ(rule_id(leak), "leak/lost");
  leak.loss->cause = Cause::thread_end;
  EXPECT_EQ(rule_id(leak), "leak/lost/thread-end");
  leak.kind = Kind::forgotten;
  EXPECT_EQ(rule_id(leak), "leak/forgotten");
}

TEST(Explain, EveryCauseAndPathHasAPhrase) {
  for (const auto& [cause, name] : kNames<Cause>) EXPECT_FALSE(phrase(cause).empty()) << name;
  for (const auto& [when, name] : kNames<When>) EXPECT_FALSE(phrase(when).empty()) << name;
}

TEST(PlainText, TakesMarksAway) {
  EXPECT_EQ(plain_text("## What `it` *means*\n"), "What it means\n");
  EXPECT_EQ(plain_text("See [the `lost` page](lost.md), a[1] and `b[2](x)`.\n"),
            "See the lost page, a[1] and b[2](x).\n");
  EXPECT_EQ(plain_text("#\n###"), "\n\n");
  EXPECT_EQ(plain_text(""), "");
}

TEST(PlainText, KeepsCodeAsItIs) {
  EXPECT_EQ(plain_text("a\n```c\nint *p; /* `x` */\n\n# y\n```\nb\n"),
            "a\n    int *p; /* `x` */\n\n    # y\nb\n");
}

TEST(PlainText, BreaksParagraphsButNotCode) {
  EXPECT_EQ(plain_text("one two three\n```\none two three\n```\n", 7),
            "one two\nthree\n    one two three\n");
  EXPECT_EQ(plain_text("incomprehensibilities of it\n", 5), "incomprehensibilities\nof it\n");
  EXPECT_EQ(plain_text("one two three\n", 0), "one two three\n");
}

TEST(PlainText, LeavesNoMarksInAnyPage) {
  for (const std::string_view word : explainable_words()) {
    const std::optional<Explanation> page = explain(word);
    ASSERT_TRUE(page.has_value());
    std::istringstream lines(plain_text(page->markdown, 80));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("    ")) continue;  // code
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_EQ(line.find_first_of("`*#"), std::string::npos) << line;
    }
  }
}

}  // namespace
}  // namespace plumb
