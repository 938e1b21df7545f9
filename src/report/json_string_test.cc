#include "report/json_string.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace plumb::json {
namespace {

std::string string_of(std::string_view text) {
  std::string out;
  append_string(out, text);
  return out;
}

TEST(JsonString, PlainTextIsCopied) {
  EXPECT_EQ(string_of(""), "\"\"");
  EXPECT_EQ(string_of("operator new[] ~<>/'&"), "\"operator new[] ~<>/'&\"");
}

TEST(JsonString, EscapesWhatMustBe) {
  EXPECT_EQ(string_of("a\"b\\c\n\t\r\b"), R"("a\"b\\c\n\t\r\u0008")");
}

TEST(JsonString, KeepsUtf8ButNotTheControlsInIt) {
  EXPECT_EQ(string_of("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
  EXPECT_EQ(string_of("\xC2\x80\xC2\x9F\xC2\xA0"), "\"\\u0080\\u009f\xC2\xA0\"");
}

TEST(JsonString, BadBytesAreReplaced) {
  EXPECT_EQ(string_of("a\xFF\"\xC2"), "\"a\xEF\xBF\xBD\\\"\xEF\xBF\xBD\"");
}

TEST(JsonString, QuotesAreShort) {
  EXPECT_EQ(in_quotes("short"), "\"short\"");
  EXPECT_EQ(in_quotes(std::string(41, 'a')), "\"" + std::string(40, 'a') + "\"...");
  // Cut before the sequence that crosses the limit.
  EXPECT_EQ(in_quotes(std::string(39, 'a') + "\xE2\x82\xAC"),
            "\"" + std::string(39, 'a') + "\"...");
}

}  // namespace
}  // namespace plumb::json
