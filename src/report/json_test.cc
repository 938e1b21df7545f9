#include "report/json.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/text.h"
#include "core/accounting.h"
#include "report/json_test_reports.h"

namespace plumb {
namespace {

using testing::HasSubstr;
using testing::Not;

Report read_back(const std::string& text) {
  Result<Report> report = read_json(text);
  EXPECT_TRUE(report) << report.error().message();
  return report ? *report : Report();
}

TEST(Json, FullReportIsTheGoldenFile) {
  const std::string path = PLUMB_TEST_DATA "/full.json";
  const std::string written = write_json(full_report());
  if (std::getenv("PLUMB_UPDATE_GOLDEN") != nullptr) ASSERT_TRUE(write_file(path, written));
  const Result<std::string> golden = read_file(path);
  ASSERT_TRUE(golden) << golden.error().message();
  EXPECT_EQ(written, *golden);
}

TEST(Json, ExampleOfTheDocsIsWhatIsWritten) {
  const Result<std::string> page = read_file(PLUMB_TEST_DATA "/../../../docs/report.md");
  ASSERT_TRUE(page) << page.error().message();
  const std::string_view fence = "```json\n";
  const std::size_t start = page->find(fence) + fence.size();
  const std::string example = page->substr(start, page->find("```", start) - start);
  EXPECT_EQ(write_json(read_back(example)), example);
}

TEST(Json, FullReportComesBackWhole) {
  const Report report = full_report();
  ASSERT_TRUE(check_totals(report));
  const std::string text = write_json(report);
  const Report again = read_back(text);
  EXPECT_EQ(again, report);
  EXPECT_EQ(write_json(again), text);
}

TEST(Json, SmallestReportComesBackWhole) {
  const Report report;
  const std::string text = write_json(report);
  EXPECT_EQ(text,
            R"({
  "schema": "plumb-report/1",
  "tool": {"name": "plumb", "engine": "run"},
  "subject": {},
  "modules": [],
  "totals": {
    "allocated": {"blocks": 0, "bytes": 0},
    "freed": {"blocks": 0, "bytes": 0},
    "lost": {"blocks": 0, "bytes": 0},
    "stale": {"blocks": 0, "bytes": 0},
    "forgotten": {"blocks": 0, "bytes": 0},
    "excluded": {"blocks": 0, "bytes": 0},
    "suppressed": 0,
    "known": 0
  },
  "leaks": [],
  "notes": []
}
)");
  EXPECT_EQ(read_back(text), report);
}

TEST(Json, PartsThatAreKnownToBeEmptyAreNotLost) {
  Report report;
  report.subject.status.emplace();
  Leak leak;
  leak.id = "0123456789abcdef";
  leak.loss.emplace().holder.emplace();
  leak.allocation.stack.resize(2);  // two frames of which nothing is known
  leak.last_use.emplace();
  leak.age.emplace();
  report.leaks.push_back(leak);
  EXPECT_EQ(read_back(write_json(report)), report);
}

TEST(Json, LeavesOutWhatSaysNothing) {
  Report report;
  report.leaks.emplace_back().id = "0123456789abcdef";
  const std::string text = write_json(report);
  for (const char* name : {"loss", "lastUse", "known", "when", "path", "stack", "api", "sizes"}) {
    EXPECT_THAT(text.substr(text.find("\"leaks\"")), Not(HasSubstr(name)));
  }
  EXPECT_THAT(text, HasSubstr("\"indirect\": {\"bytes\": 0, \"blocks\": 0}"));
}

TEST(Json, MembersMayComeInAnyOrder) {
  const Report report = read_back(
      R"({"leaks": [{"allocation": {"stack": [{"module": 0}]}, "blocks": 1, "bytes": 2,
                     "kind": "lost", "id": "0123456789abcdef"}],
          "totals": {"lost": {"bytes": 2, "blocks": 1}, "allocated": {"bytes": 2, "blocks": 1}},
          "modules": [{"path": "a"}],
          "tool": {"engine": "cc", "name": "plumb"},
          "schema": "plumb-report/1"})");
  ASSERT_EQ(report.leaks.size(), 1U);
  EXPECT_EQ(report.leaks[0].resource, "memory");
  EXPECT_EQ(report.leaks[0].confidence, 1);
  EXPECT_EQ(report.tool.engine, Engine::cc);
}

TEST(Json, EscapedNamesAreTheSameNames) {
  const std::string text = write_json(Report());
  std::string escaped = text;
  escaped.replace(escaped.find("schema"), 6, "sch\\u0065ma");
  EXPECT_EQ(write_json(read_back(escaped)), text);
}

TEST(Json, NewerMinorVersionIsReadAndKept) {
  std::string text = write_json(Report());
  text.replace(text.find("report/1"), 8, "report/1.7");
  const Report report = read_back(text);
  EXPECT_EQ(report.schema_minor, 7);
  EXPECT_EQ(write_json(report), text);
}

TEST(Json, UnknownMembersKeepTheirTextAndOrder) {
  std::string text = write_json(Report());
  // As a newer version might write them, numbers that no type of ours holds
  // included, spread over lines or not.
  const std::string unknown =
      ",\n  \"zeta\": {\n    \"b\": [1.0, 1e5, 123456789012345678901234567890],\n    \"a\": {}\n  }"
      ",\n  \"alpha\": \"\\u20ac\",\n  \"n\\\"ull\": null";
  text.insert(text.rfind("\n}"), unknown);
  const Report report = read_back(text);
  ASSERT_EQ(report.extra.size(), 3U);
  EXPECT_EQ(report.extra[0].first, "zeta");
  EXPECT_EQ(report.extra[1].second, "\"\\u20ac\"");
  EXPECT_EQ(report.extra[2].first, "n\"ull");
  EXPECT_EQ(write_json(report), text);
}

TEST(Json, FiguresAreExact) {
  Report report = full_report();
  for (const double number : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.0}) {
    report.leaks[0].age->drag = number;
    const Report again = read_back(write_json(report));
    EXPECT_EQ(again.leaks[0].age->drag, number);
    EXPECT_EQ(write_json(again), write_json(report));
  }
  EXPECT_EQ(read_back(write_json(report)).series[0].heap_bytes,
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Json, FigureThatIsNoNumberIsNotKnown) {
  Report report = full_report();
  report.leaks[0].age->growth = std::numeric_limits<double>::infinity();
  report.leaks[0].age->drag = std::nan("");
  const Report again = read_back(write_json(report));
  EXPECT_FALSE(again.leaks[0].age->growth);
  EXPECT_FALSE(again.leaks[0].age->drag);
}

TEST(Json, NamesThatAreNoUtf8AreMadeValid) {
  Report report;
  report.modules.emplace_back().path = "/tmp/\xFF\xC0\xAF\xED\xA0\x80name";
  const std::string text = write_json(report);
  EXPECT_TRUE(is_utf8(text));
  const Report again = read_back(text);
  EXPECT_EQ(again.modules[0].path, to_utf8(report.modules[0].path));
  EXPECT_EQ(write_json(again), text);
}

TEST(Json, ControlCharactersAreEscaped) {
  Report report;
  report.subject.cwd = std::string("a\0b\x1B[31m\x7F\xC2\x9B", 11);
  const std::string text = write_json(report);
  EXPECT_THAT(text, HasSubstr(R"("a\u0000b\u001b[31m\u007f\u009b")"));
  EXPECT_EQ(read_back(text), report);
}

TEST(Json, FrameIsOneLineAndLeakAboutAKilobyte) {
  const std::string text = write_json(big_report(1000));
  EXPECT_THAT(text, HasSubstr("\n          {\"function\": \"server::handle_request_2(int)\", "));
  EXPECT_LT(text.size(), 1250U * 1000U);
  EXPECT_GT(text.size(), 800U * 1000U);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Generous bounds that also hold with sanitizers: they catch what is not
// linear, not what is slow.
TEST(Json, TenThousandLeaksAreQuick) {
  const Report report = big_report(10000);
  const double start = cpu_seconds();
  const std::string text = write_json(report);
  const double written = cpu_seconds();
  const Result<Report> again = read_json(text);
  const double read = cpu_seconds();
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, report);
  EXPECT_LT(written - start, 2);
  EXPECT_LT(read - written, 4);
}

// By hand: plumb_report_test --gtest_also_run_disabled_tests
//          --gtest_filter=*HundredThousandLeaks
TEST(Json, DISABLED_HundredThousandLeaks) {
  std::string text;
  const double start = cpu_seconds();
  double made = 0;
  {
    const Report report = big_report(100000);
    made = cpu_seconds();
    text = write_json(report);
  }
  const double written = cpu_seconds();
  const Result<Report> again = read_json(text);
  const double read = cpu_seconds();
  ASSERT_TRUE(again) << again.error().message();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) * 1024;
  std::printf("%zu bytes; made %.2f s, written %.2f s, read %.2f s, peak %.0f MB, %.1f x\n",
              text.size(), made - start, written - made, read - written, peak / 1e6,
              peak / static_cast<double>(text.size()));
  EXPECT_LT(written - made, 1);
  EXPECT_LT(read - written, 2);
  EXPECT_LT(peak, 8.0 * static_cast<double>(text.size()));
}

}  // namespace
}  // namespace plumb
