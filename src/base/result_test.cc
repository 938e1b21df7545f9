#include "base/result.h"

#include <gtest/gtest.h>

namespace plumb {
namespace {

TEST(Error, PrintsWherePlaceAndHint) {
  EXPECT_EQ((Error{"a.json:3", "bad", "mend it"}).message(),
            "plumb: error: a.json:3: bad\n  hint: mend it\n");
  EXPECT_EQ((Error{"", "bad", ""}).message(), "plumb: error: bad\n");
}

TEST(Error, SendsNoControlCharactersToTheTerminal) {
  const std::string text = Error{"a\x1b[2J", "b\r\n\x7f", "c\xff"}.message();
  EXPECT_EQ(text,
            "plumb: error: a\\x1b[2J: b\\x0d\\x0a\\x7f\n"
            "  hint: c\xEF\xBF\xBD\n");
}

TEST(Error, InPrefixesTheFile) {
  EXPECT_EQ((Error{":3:14", "x", ""}).in("a.json").where, "a.json:3:14");
  EXPECT_EQ((Error{"", "x", ""}).in("a.json").where, "a.json");
  EXPECT_EQ((Error{"leaks[3].bytes", "x", ""}).in("a.json").where, "a.json: leaks[3].bytes");
}

TEST(Result, CarriesAnErrorOrAValue) {
  const Result<int> bad = fail("w", "x", "h");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().where, "w");
  EXPECT_EQ(bad.error().hint, "h");
  EXPECT_EQ(Result<int>(3).value(), 3);
}

}  // namespace
}  // namespace plumb
