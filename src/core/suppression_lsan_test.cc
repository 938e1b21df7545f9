#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/suppression.h"
#include "core/test_leaks.h"

namespace plumb {
namespace {

using test::frame;
using test::leak;
using test::report_of;
using test::stack;

std::string error_of(std::string_view text) {
  const auto parsed = parse_suppressions(text, "l.txt");
  return parsed ? "" : parsed.error().where + ": " + parsed.error().what;
}

bool covers(std::string_view pattern) {
  auto entries = parse_suppressions("leak:" + std::string(pattern) + "\n", "l.txt");
  EXPECT_TRUE(entries) << entries.error().message();
  Frame place = frame("ns::make(int)", "/home/x/src/tree.cc", 12);
  place.module = ModuleId::of(0);
  place.linkage = "_ZN2ns4makeEi";
  Report report = report_of({leak({frame("helper"), place, frame("main")})});
  report.modules = {{.path = "/usr/lib/libx.so.1", .build_id = "", .debug = "", .extra = {}}};
  apply_suppressions(report, *entries, "2026-01-01");
  return report.leaks[0].suppressed.has_value();
}

TEST(LsanSuppressions, MatchAnyFrameByFunctionFileOrModule) {
  for (const char* pattern : {"make", "ns::make", "helper", "main", "tree.cc", "src/tree",
                              "libx.so", "_ZN2ns4makeEi", "^ns::make", "main$", "^main$", "ns*int",
                              "^/usr/lib/", "so.1$", "*make*", "malloc", "make(int)$ignored"}) {
    EXPECT_TRUE(covers(pattern)) << pattern;
  }
}

TEST(LsanSuppressions, DoNotMatchTheRest) {
  for (const char* pattern :
       {"Make", "^make", "make$", "^lib", "liby", "n?", "int*ns", "calloc", "mainly", "\\main"}) {
    EXPECT_FALSE(covers(pattern)) << pattern;
  }
}

TEST(LsanSuppressions, ReadsLines) {
  const auto entries =
      parse_suppressions("# comment\n\nleak:foo\n   leak: bar  \nrace:x\n", "l.txt");
  ASSERT_TRUE(entries) << entries.error().message();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].label(), "l.txt:3 (leak:foo)");
  EXPECT_EQ((*entries)[1].label(), "l.txt:4 (leak:bar)");
}

TEST(LsanSuppressions, ErrorsNameTheLine) {
  EXPECT_EQ(error_of("leak:a\nleek:b\n"), "l.txt:2: 'leek:b' is no LeakSanitizer suppression");
  EXPECT_EQ(error_of("leak:a\nb\n"), "l.txt:2: 'b' is no LeakSanitizer suppression");
  for (const char* all : {"leak:\n", "leak:*\n", "leak:^$\n", "leak:^*\n"}) {
    EXPECT_EQ(error_of(all), "l.txt:1: this pattern matches every leak") << all;
  }
}

TEST(LsanSuppressions, LookAtTheAllocationOnly) {
  auto entries = parse_suppressions("leak:drop\n", "l.txt");
  Report report = report_of({test::lost_at(stack({"make"}), stack({"drop"}))});
  apply_suppressions(report, *entries, "2026-01-01");
  EXPECT_FALSE(report.leaks[0].suppressed);
}

}  // namespace
}  // namespace plumb
