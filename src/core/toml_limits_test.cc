#include "core/toml_limits.h"

#include <gtest/gtest.h>

#include <string>

namespace plumb {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

TEST(TooDeepTomlLine, FindsDeepKeysAndBrackets) {
  EXPECT_EQ(too_deep_toml_line("x = 1\n[" + repeated("a.", 200'000) + "a]\n"), 2u);
  EXPECT_EQ(too_deep_toml_line(repeated("a.", 200'000) + "a = 1\n"), 1u);
  EXPECT_EQ(too_deep_toml_line("x = 1\ny = " + repeated("[", 200'000)), 2u);
  EXPECT_EQ(too_deep_toml_line("x = " + repeated("{a=", 200'000)), 1u);
  EXPECT_EQ(too_deep_toml_line("x = {" + repeated("\"a\".", 200) + "a = 1}"), 1u);
}

TEST(TooDeepTomlLine, LooksThroughStringsAndComments) {
  const std::string deep = repeated("a.", 100);
  EXPECT_EQ(too_deep_toml_line("x = \"" + deep + "\"\n"), std::nullopt);
  EXPECT_EQ(too_deep_toml_line("x = '" + deep + "'\n# " + deep), std::nullopt);
  EXPECT_EQ(too_deep_toml_line("x = \"\"\"\n" + deep + "\n\"\"\"\n"), std::nullopt);
  EXPECT_EQ(too_deep_toml_line("x = \"\\\"" + deep + "\"\n"), std::nullopt);
  // What looks like a string or comment, but has ended.
  EXPECT_EQ(too_deep_toml_line("x = [\"\"\"a\"\"\"\", {" + deep + "a = 1}]"), 1u);
  EXPECT_EQ(too_deep_toml_line("x = '''\n'''''\n" + deep + "a = 1"), 3u);
  EXPECT_EQ(too_deep_toml_line("x = '\\'\n" + deep + "a = 1"), 2u);
  EXPECT_EQ(too_deep_toml_line("# '\n" + deep + "a = 1"), 2u);
}

TEST(TooDeepTomlLine, AcceptsWhatPeopleWrite) {
  EXPECT_EQ(too_deep_toml_line("[[suppress]]\nallocation = [\"a.b\", { file = \"x.c\" }]\n"),
            std::nullopt);
  EXPECT_EQ(too_deep_toml_line(repeated("a = 1.5\n[x.y]\n", 1000)), std::nullopt);
  EXPECT_EQ(too_deep_toml_line(""), std::nullopt);
  EXPECT_EQ(too_deep_toml_line("x = \"\\"), std::nullopt);
  EXPECT_EQ(too_deep_toml_line("\"\"\""), std::nullopt);
}

}  // namespace
}  // namespace plumb
