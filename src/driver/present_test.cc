#include "driver/present.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "driver/sample_reports.h"
#include "driver/screen.h"

namespace plumb {
namespace {

TEST(Present, TheNameOfTheOutputGivesTheFormat) {
  const auto format = [](std::string path, bool given) {
    Settings settings(Command::report);
    settings.set(spec_of(Opt::output), {std::move(path)}, Origin::command_line);
    if (given) settings.set(spec_of(Opt::format), {"text"}, Origin::command_line);
    return format_in_force(settings);
  };
  EXPECT_EQ(format("a.json", false), Format::json);
  EXPECT_EQ(format("a.sarif", false), Format::sarif);
  EXPECT_EQ(format("a.sarif.json", false), Format::sarif);
  EXPECT_EQ(format("a.xml", false), Format::junit);
  EXPECT_EQ(format("a.txt", false), Format::text);
  EXPECT_EQ(format("a.json", true), Format::text);
}

TEST(Present, OnlyTheCommandLineCutsMachineFormats) {
  const auto leaks = [](Origin origin) {
    Settings settings(Command::report);
    settings.set(spec_of(Opt::format), {"json"}, Origin::command_line);
    settings.set(spec_of(Opt::limit), {"1"}, origin);
    Report report = sample();
    rendered(report, settings, -1);
    return report.leaks.size();
  };
  EXPECT_EQ(leaks(Origin::file), 3U);
  EXPECT_EQ(leaks(Origin::command_line), 1U);
}

TEST(Present, ZeroShowsAll) {
  Settings settings(Command::report);
  settings.set(spec_of(Opt::limit), {"0"}, Origin::command_line);
  EXPECT_GT(render_options(settings, -1).limit, 1000000U);
}

TEST(Present, SaysWhenTotalsDoNotAddUp) {
  Report report = sample();
  EXPECT_TRUE(check_report(report));
  report.totals.lost.bytes += 1;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(check_report(report));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("internal error"), std::string::npos);
}

TEST(Screen, WidthAndColourOfWhatIsNoTerminal) {
  unsetenv("COLUMNS");
  const Screen plain = screen_of(-1, "auto");
  EXPECT_FALSE(plain.terminal);
  EXPECT_FALSE(plain.color);
  EXPECT_EQ(plain.width, 80U);
  EXPECT_TRUE(screen_of(-1, "always").color);
  EXPECT_FALSE(screen_of(-1, "never").color);
  setenv("COLUMNS", "120", 1);
  EXPECT_EQ(screen_of(-1, "auto").width, 120U);
  setenv("COLUMNS", "3", 1);
  EXPECT_EQ(screen_of(-1, "auto").width, 40U);
  setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(screen_of(-1, "auto").width, 80U);
  unsetenv("COLUMNS");
}

}  // namespace
}  // namespace plumb
