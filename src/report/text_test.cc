#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "report/testdata/sample_report.h"
#include "report/text_cells.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

Leak numbered(int number, Kind kind = Kind::lost) {
  Leak leak;
  leak.id = "number" + std::to_string(number);
  leak.kind = kind;
  leak.direct = sample::count(1, 10);
  leak.allocation.stack = {sample::at("f" + std::to_string(number), "none.c", 1)};
  return leak;
}

Report many(int lost, int forgotten) {
  Report report = sample::clean();
  for (int i = 0; i < lost; ++i) sample::add(report, numbered(i));
  for (int i = 0; i < forgotten; ++i) sample::add(report, numbered(lost + i, Kind::forgotten));
  return report;
}

RenderOptions limited(std::size_t limit) {
  RenderOptions options;
  options.limit = limit;
  return options;
}

TEST(Text, LimitShowsTheFirstAndCountsTheRest) {
  const std::string text = write_text(many(5, 0), limited(2));
  EXPECT_THAT(text, HasSubstr("id number1\n"));
  EXPECT_THAT(text, Not(HasSubstr("number2")));
  EXPECT_THAT(text, HasSubstr("3 more leaks, 30 bytes: --limit=0 shows all\n"));
  EXPECT_THAT(text, HasSubstr("5 leaks, 50 bytes lost in 5 blocks.\n"));
}

TEST(Text, NoLimit) {
  const std::string text = write_text(many(30, 30), limited(0));
  EXPECT_THAT(text, HasSubstr("id number59\n"));
  EXPECT_THAT(text, Not(HasSubstr("--limit")));
}

TEST(Text, ForgottenOnesDoNotCrowdOutLosses) {
  const std::string text = write_text(many(1, 30), limited(20));
  EXPECT_THAT(text, HasSubstr("number5\n"));
  EXPECT_THAT(text, Not(HasSubstr("number6\n")));
  EXPECT_THAT(text, HasSubstr("25 more forgotten leaks, 250 bytes: --limit=0 shows all\n"));
}

TEST(Text, ForgottenOnesAloneTakeTheWholeLimit) {
  const std::string text = write_text(many(0, 30), limited(20));
  EXPECT_THAT(text, HasSubstr("number19\n"));
  EXPECT_THAT(text, HasSubstr("10 more forgotten leaks, 100 bytes: --limit=0 shows all\n"));
}

TEST(Text, NoRoomForForgottenOnes) {
  const std::string text = write_text(many(2, 3), limited(2));
  EXPECT_THAT(text, HasSubstr("\n3 forgotten leaks, 30 bytes: --limit=0 shows all\n"));
  EXPECT_THAT(text, Not(HasSubstr("still reachable")));
}

TEST(Text, HiddenLeaksAreCountedOnly) {
  Report report = sample::scan();
  RenderOptions options;
  EXPECT_THAT(write_text(report, options), Not(HasSubstr("id ffffffffffffffff")));
  EXPECT_THAT(write_text(report, options), HasSubstr("; 1 suppressed, 1 known.\n"));
  options.show_hidden = true;
  EXPECT_THAT(write_text(report, options),
              HasSubstr("  suppressed by leaks.toml:3: freed by the next release\n"));
  EXPECT_THAT(write_text(report, options), HasSubstr("  known: in the baseline\n"));
}

TEST(Text, NothingKnownOfALeak) {
  Report report = sample::clean();
  Leak leak;
  leak.direct = sample::count(1, 8);
  sample::add(report, leak);
  EXPECT_EQ(write_text(report, {}),
            "?: leak[lost]: 8 bytes in 1 block allocated at an unknown place are never freed\n"
            "    and nothing refers to them\n"
            "\n"
            "1 leak, 8 bytes lost.\n");
}

TEST(Text, EscapesOnlyOurOwn) {
  RenderOptions options;
  EXPECT_EQ(write_text(sample::hostile(), options).find('\x1b'), std::string::npos);
  EXPECT_EQ(write_text(sample::hostile(), options).find('\r'), std::string::npos);
  options.verbose = true;
  EXPECT_EQ(write_text(sample::hostile(), options).find('\x1b'), std::string::npos);
  options.color = true;
  const std::string text = write_text(sample::hostile(), options);
  for (std::size_t at = text.find('\x1b'); at != std::string::npos;
       at = text.find('\x1b', at + 1)) {
    EXPECT_EQ(text.substr(at + 1).find_first_not_of("[0123456789;"), text.substr(at).find('m') - 1);
  }
}

// A line may stick out only because one word is wider than the page.
void expect_fits(const std::string& text, std::size_t width) {
  std::vector<std::string_view> lines = split(text, '\n');
  lines.pop_back();
  lines.pop_back();  // the summary is one line at any width
  for (const std::string_view line : lines) {
    if (columns(line) <= width) continue;
    const std::size_t kind = line.find(": leak[");  // is kept with what follows
    const std::size_t words = split(trim(line), ' ').size();
    EXPECT_EQ(words, kind == std::string_view::npos ? 1U : 4U) << width << ": " << line;
  }
}

TEST(Text, FitsThePage) {
  for (unsigned width = 40; width <= 120; ++width) {
    for (const Report& report :
         {sample::exact(), sample::scan(), sample::check(), sample::watch()}) {
      RenderOptions options;
      options.width = width;
      options.show_hidden = true;
      expect_fits(write_text(report, options), width);
      options.verbose = true;
      expect_fits(write_text(report, options), width);
    }
  }
}

TEST(Text, KindAndAmountStandBehindTheLongestPath) {
  Report report = sample::clean();
  Leak leak = numbered(1);
  leak.allocation.stack[0].file = "/" + std::string(300, 'd') + "/a.c";
  sample::add(report, leak);
  EXPECT_THAT(write_text(report, {}), HasSubstr("/a.c:1: leak[lost]: 10 bytes\n    in 1 block"));
}

TEST(Text, AnyWidthWorks) {
  for (const unsigned width : {0U, 1U, 2U, 19U, 1000000U}) {
    RenderOptions options;
    options.width = width;
    EXPECT_THAT(write_text(sample::hostile(), options), HasSubstr("1 leak, 8 bytes lost.\n"));
    EXPECT_THAT(write_text(sample::exact(), options), HasSubstr("2 leaks, 49,336 bytes lost"));
  }
}

TEST(Text, ManyLeaksCostNoMoreThanTheShownOnes) {
  const Report report = many(100000, 0);
  const std::string text = write_text(report, {});
  EXPECT_LT(text.size(), 10000U);
  EXPECT_THAT(text, HasSubstr("99,980 more leaks, 999,800 bytes: --limit=0 shows all\n"));
}

}  // namespace
}  // namespace plumb
