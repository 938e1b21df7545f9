#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace plumb {
namespace {

using ::testing::ElementsAre;

TEST(WithCommas, GroupsByThree) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1000), "1,000");
  EXPECT_EQ(with_commas(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(NumberText, HasThreeDigitsAndAllOfTheWholePart) {
  EXPECT_EQ(number_text(0.01042), "0.0104");
  EXPECT_EQ(number_text(2.5), "2.5");
  EXPECT_EQ(number_text(99.96), "100");
  EXPECT_EQ(number_text(1234.5), "1,235");
  EXPECT_EQ(number_text(1000), "1,000");
  EXPECT_EQ(number_text(HUGE_VAL), "unknown");
}

TEST(CountOf, AgreesInNumber) {
  EXPECT_EQ(count_of(1, "block"), "1 block");
  EXPECT_EQ(count_of(0, "block"), "0 blocks");
  EXPECT_EQ(count_of(2000, "block"), "2,000 blocks");
}

TEST(Trim, TakesBlanksFromTheEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(",a,", ','), ElementsAre("", "a", ""));
}

TEST(BaseName, IsWhatFollowsTheLastSlash) {
  EXPECT_EQ(base_name("/a/b.c"), "b.c");
  EXPECT_EQ(base_name("b.c"), "b.c");
  EXPECT_EQ(base_name("/a/"), "");
}

TEST(GlobMatch, KnowsStarQuestionAndEscape) {
  EXPECT_TRUE(glob_match("a*c", "abbc"));
  EXPECT_TRUE(glob_match("a*c", "ac"));
  EXPECT_FALSE(glob_match("a*c", "acd"));
  EXPECT_TRUE(glob_match("a?c", "abc"));
  EXPECT_FALSE(glob_match("a?c", "ac"));
  EXPECT_TRUE(glob_match("a\\*c", "a*c"));
  EXPECT_FALSE(glob_match("a\\*c", "abc"));
  EXPECT_TRUE(glob_match("a\\?", "a?"));
  EXPECT_FALSE(glob_match("a\\?", "ab"));
  EXPECT_TRUE(glob_match("\\\\", "\\"));
  EXPECT_TRUE(glob_match("*/lib*.so*", "/usr/lib/libx.so.1"));
}

TEST(GlobMatch, Ends) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("**", "a"));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_TRUE(glob_match("a\\", "a\\"));  // a last backslash is itself
  EXPECT_FALSE(glob_match("*\\*", "a"));
}

// The plain definition, exponential but obvious.
bool slow_match(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    return slow_match(pattern.substr(1), text) ||
           (!text.empty() && slow_match(pattern, text.substr(1)));
  }
  if (text.empty()) return false;
  if (pattern[0] == '\\' && pattern.size() > 1) {
    return pattern[1] == text[0] && slow_match(pattern.substr(2), text.substr(1));
  }
  return (pattern[0] == '?' || pattern[0] == text[0]) &&
         slow_match(pattern.substr(1), text.substr(1));
}

TEST(GlobMatch, AgreesWithTheDefinition) {
  std::mt19937 random(1);
  const auto word = [&](std::string_view letters, std::size_t longest) {
    std::string text(random() % (longest + 1), ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern = word("ab*?\\", 7);
    const std::string text = word("ab*", 8);
    ASSERT_EQ(glob_match(pattern, text), slow_match(pattern, text)) << pattern << " | " << text;
  }
}

TEST(GlobMatch, ManyStarsAreNotExponential) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  const std::string text(2000, 'a');
  EXPECT_FALSE(glob_match(pattern + "b", text));
}

TEST(Nearest, FindsTypingMistakesOnly) {
  const std::vector<std::string_view> words = {"suppressions", "baseline", "budget"};
  EXPECT_EQ(nearest("supressions", words), "suppressions");
  EXPECT_EQ(nearest("budegt", words), "budget");
  EXPECT_EQ(nearest("xyz", words), "");
  EXPECT_EQ(nearest(std::string(100000, 'b'), words), "");
}

TEST(ParseSize, KnowsUnits) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4k"), 4096u);
  EXPECT_EQ(parse_size("4K"), 4096u);
  EXPECT_EQ(parse_size("1M"), 1048576u);
  EXPECT_EQ(parse_size("2G"), 2147483648u);
  EXPECT_EQ(parse_size("17179869183G"), 17179869183u << 30);
}

TEST(ParseSize, RefusesTheRest) {
  for (const char* bad : {"", "k", "-1", "+1", " 1", "1 k", "1kk", "1m", "1.5M", "0x10",
                          "18446744073709551616", "17179869184G"}) {
    EXPECT_EQ(parse_size(bad), std::nullopt) << bad;
  }
}

TEST(Utf8, AcceptsWhatIsWellFormed) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_EQ(to_utf8("\xC3\xA9"), "\xC3\xA9");
}

TEST(Utf8, ReplacesEachBadByte) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_FALSE(is_utf8("\xFF"));
  EXPECT_EQ(to_utf8("a\xFF"
                    "b"),
            "a" + bad + "b");
  EXPECT_EQ(to_utf8("\xC3"), bad);                                // cut short
  EXPECT_EQ(to_utf8("\xC0\xAF"), bad + bad);                      // overlong
  EXPECT_EQ(to_utf8("\xED\xA0\x80"), bad + bad + bad);            // surrogate
  EXPECT_EQ(to_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad);  // beyond the last
  EXPECT_TRUE(is_utf8(to_utf8(std::string("\x80\x00\xC3(", 4))));
}

}  // namespace
}  // namespace plumb
