#include "base/literal_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

namespace plumb {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::set<std::uint32_t> found(const std::vector<std::string_view>& literals,
                              std::string_view text) {
  std::set<std::uint32_t> numbers;
  LiteralSearch(literals).scan(text, [&](std::uint32_t literal) { numbers.insert(literal); });
  return numbers;
}

TEST(LiteralSearch, FindsOverlappingAndNestedStrings) {
  EXPECT_THAT(found({"he", "she", "his", "hers"}, "ushers"), ElementsAre(0, 1, 3));
  EXPECT_THAT(found({"he", "she", "his", "hers"}, "xhiyy"), IsEmpty());
}

TEST(LiteralSearch, EqualStringsAreAllFound) {
  EXPECT_THAT(found({"ab", "ab", "b"}, "ab"), ElementsAre(0, 1, 2));
}

TEST(LiteralSearch, EmptyStringsAreNeverFound) {
  EXPECT_THAT(found({""}, "abc"), IsEmpty());
  EXPECT_THAT(found({}, "abc"), IsEmpty());
  EXPECT_THAT(found({"a"}, ""), IsEmpty());
}

TEST(LiteralSearch, AgreesWithFind) {
  std::mt19937 random(2);
  const auto word = [&](std::size_t longest) {
    std::string text(random() % (longest + 1), ' ');
    for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? 0x80 : 'a' + random() % 2);
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> words(random() % 12);
    for (std::string& each : words) each = word(5);
    const std::string text = word(30);
    std::set<std::uint32_t> expected;
    for (std::uint32_t i = 0; i < words.size(); ++i) {
      if (!words[i].empty() && text.find(words[i]) != text.npos) expected.insert(i);
    }
    EXPECT_EQ(found({words.begin(), words.end()}, text), expected);
  }
}

}  // namespace
}  // namespace plumb
