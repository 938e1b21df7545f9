#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/suppression.h"

namespace plumb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string error_of(std::string_view text) {
  const auto parsed = parse_suppressions(text, "s.toml");
  return parsed ? "" : parsed.error().where + ": " + parsed.error().what;
}

TEST(TomlSuppressions, ReadsEveryKey) {
  const auto parsed = parse_suppressions(R"(# a comment
[[suppress]]
name = "cache"
reason = "kept for the whole run"
kind = ["lost", "forgotten"]
id = "0123456789abcdef"
allocation = ["make", "...", { function = "f*", file = "a.c", module = "lib*" }]
loss = ["drop"]
last-use = ["use"]
any = ["x"]
max = 20
expires = 2027-01-31

[[suppress]]
kind = "stale"
expires = "2027-02-28"
)",
                                         "s.toml");
  ASSERT_TRUE(parsed) << parsed.error().message();
  ASSERT_EQ(parsed->size(), 2u);
  const Suppression& first = (*parsed)[0];
  EXPECT_EQ(first.name, "cache");
  EXPECT_EQ(first.reason, "kept for the whole run");
  EXPECT_EQ(first.origin, "s.toml:2");
  EXPECT_EQ(first.label(), "s.toml:2 (cache)");
  EXPECT_THAT(first.kinds, ElementsAre(Kind::lost, Kind::forgotten));
  EXPECT_EQ(first.id, "0123456789abcdef");
  EXPECT_EQ(first.max, 20u);
  EXPECT_EQ(first.expires, "2027-01-31");
  ASSERT_EQ(first.stacks.size(), 4u);
  for (const StackPattern& stack : first.stacks) {
    EXPECT_FALSE(stack.from_allocator);
    if (stack.part != StackPart::allocation) continue;
    ASSERT_EQ(stack.frames.size(), 3u);
    EXPECT_EQ(stack.frames[0].function, "make");
    EXPECT_TRUE(stack.frames[1].gap);
    EXPECT_EQ(stack.frames[2].function, "f*");
    EXPECT_EQ(stack.frames[2].file, "a.c");
    EXPECT_EQ(stack.frames[2].module, "lib*");
  }
  EXPECT_EQ((*parsed)[1].origin, "s.toml:14");
  EXPECT_EQ((*parsed)[1].label(), "s.toml:14");
  EXPECT_EQ((*parsed)[1].expires, "2027-02-28");
}

TEST(TomlSuppressions, ErrorsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"[[suppress]]\nany = [\"f\"]\nmx = 3\n", "s.toml:3: 'mx' is no key of a suppression"},
      {"[[suppress]]\nany = [\"f\",\n { funktion = \"x\" }]\n",
       "s.toml:3: 'funktion' is no key of a frame"},
      {"[[suppres]]\n", "s.toml:1: 'suppres' is no key of a suppression file"},
      {"[suppress]\nkind = \"lost\"\n", "s.toml:1: 'suppress' is not a list of tables"},
      {"suppress = [1]\n", "s.toml:1: 'suppress' has an element that is no table"},
      {"[[suppress]]\nname = \"x\"\n", "s.toml:1: this entry would hide every leak"},
      {"[[suppress]]\nkind = \"loss\"\n", "s.toml:2: 'loss' is no kind of leak"},
      {"[[suppress]]\nkind = []\n", "s.toml:2: 'kind' is an empty list"},
      {"[[suppress]]\nkind = 3\n", "s.toml:2: 'kind' is not a string"},
      {"[[suppress]]\nid = \"123\"\n", "s.toml:2: 'id' is no fingerprint"},
      {"[[suppress]]\nid = \"0123456789ABCDEF\"\n", "s.toml:2: 'id' is no fingerprint"},
      {"[[suppress]]\nany = \"f\"\n", "s.toml:2: 'any' is not a list of frames, innermost first"},
      {"[[suppress]]\nany = []\n", "s.toml:2: 'any' names no frame"},
      {"[[suppress]]\nany = [\"...\"]\n", "s.toml:2: 'any' names no frame"},
      {"[[suppress]]\nany = [\"\"]\n", "s.toml:2: this pattern is empty"},
      {"[[suppress]]\nany = [{}]\n", "s.toml:2: this pattern is empty"},
      {"[[suppress]]\nany = [{file = \"\"}]\n", "s.toml:2: this pattern is empty"},
      {"[[suppress]]\nany = [3]\n",
       "s.toml:2: 'any' is not a list of strings and { function, file, module } tables"},
      {"[[suppress]]\nkind = \"lost\"\nmax = -1\n", "s.toml:3: 'max' is negative"},
      {"[[suppress]]\nkind = \"lost\"\nmax = \"3\"\n", "s.toml:3: 'max' is not a number of blocks"},
      {"[[suppress]]\nkind = \"lost\"\nexpires = \"2027-02-30\"\n",
       "s.toml:3: 'expires' is no date"},
      {"[[suppress]]\nkind = \"lost\"\nexpires = \"soon\"\n", "s.toml:3: 'expires' is no date"},
      {"[[suppress]]\nkind = \"lost\"\nexpires = 3\n", "s.toml:3: 'expires' is not a date"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(error_of(text), error) << text;
}

TEST(TomlSuppressions, HintsAtTheKeyMeant) {
  const auto parsed = parse_suppressions("[[suppress]]\nalocation = [\"f\"]\n", "s");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().hint, "did you mean 'allocation'?");
}

TEST(TomlSuppressions, SyntaxErrorsNameTheLine) {
  EXPECT_THAT(error_of("[[suppress]]\nname = \"x\n"), HasSubstr("s.toml:2: "));
  EXPECT_THAT(error_of("[[suppress]]\nname = 'a'\nname = 'b'\n"), HasSubstr("s.toml:3: "));
}

TEST(TomlSuppressions, HostileFilesAreErrors) {
  std::string dots = "[";
  for (int i = 0; i < 200'000; ++i) dots += "a.";
  EXPECT_EQ(error_of(dots + "a]"), "s.toml:1: keys or brackets nest deeper than 64");
  EXPECT_EQ(error_of("a = " + std::string(200'000, '[')),
            "s.toml:1: keys or brackets nest deeper than 64");
  EXPECT_EQ(error_of("[[suppress]]\nname = '\xFF'\n"), "s.toml:2: this is not UTF-8 text");
  EXPECT_EQ(error_of(std::string_view("[[suppress]]\n\0\n", 15)),
            "s.toml:2: this is not UTF-8 text");
  EXPECT_EQ(error_of("\x7f"
                     "ELF\x02\x01\x01"),
            "s.toml:1: this is no suppression in any language known");
  EXPECT_EQ(error_of("hello"), "s.toml:1: this is no suppression in any language known");
  const std::string huge = "[[suppress]]\nname = \"" + std::string(5'000'000, 'x') + "\"\n";
  EXPECT_EQ(error_of(huge), "s.toml:1: this entry would hide every leak");
}

TEST(Suppressions, AnEmptyFileHasNone) {
  for (const char* text : {"", "\n\n", "# nothing\n", "\xEF\xBB\xBF# with a mark\r\n"}) {
    const auto parsed = parse_suppressions(text, "s");
    ASSERT_TRUE(parsed);
    EXPECT_THAT(*parsed, IsEmpty());
  }
}

TEST(Suppressions, ReadsWindowsLineEnds) {
  EXPECT_TRUE(parse_suppressions("\xEF\xBB\xBF[[suppress]]\r\nkind = \"lost\"\r\n", "s"));
  EXPECT_TRUE(parse_suppressions("leak:foo\r\n", "s"));
  EXPECT_TRUE(parse_suppressions("{\r\n n\r\n Memcheck:Leak\r\n fun:malloc\r\n}\r\n", "s"));
}

}  // namespace
}  // namespace plumb
