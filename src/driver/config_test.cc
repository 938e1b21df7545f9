#include "driver/config.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/runtime_options.h"

namespace plumb {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

Settings settings_of(Command command, std::string_view text,
                     const std::string& path = "plumb.toml") {
  Settings settings(command);
  const Result<void> good = apply_config(text, path, settings);
  EXPECT_TRUE(good) << good.error().message();
  return settings;
}

Error error_of(std::string_view text) {
  Settings settings(Command::report);
  const Result<void> good = apply_config(text, "plumb.toml", settings);
  EXPECT_FALSE(good);
  return good ? Error{} : good.error();
}

constexpr std::string_view kSample =
    "limit = 7\n"
    "min-size = \"4k\"\n"
    "budget = 100\n"
    "quiet = true\n"
    "suppressions = [\"a.supp\", \"/b.supp\"]\n"
    "[report]\n"
    "limit = 9\n"
    "kind = \"lost\"\n"
    "[run]\n"
    "stacks = 5\n";

TEST(Config, TypesAndTables) {
  const Settings report = settings_of(Command::report, kSample);
  EXPECT_EQ(report.number(Opt::limit), 9U);
  EXPECT_EQ(report.size(Opt::min_size), 4096U);
  EXPECT_EQ(report.size(Opt::budget), 100U);
  EXPECT_TRUE(report.flag(Opt::quiet));
  EXPECT_THAT(report.list(Opt::kind), ElementsAre("lost"));

  const Settings run = settings_of(Command::run, kSample);
  EXPECT_EQ(run.number(Opt::limit), 7U);
  EXPECT_EQ(run.number(Opt::stacks), 5U);
}

TEST(Config, PathsAreRelativeToTheFile) {
  EXPECT_THAT(settings_of(Command::report, kSample).list(Opt::suppressions),
              ElementsAre("a.supp", "/b.supp"));
  EXPECT_THAT(settings_of(Command::report, kSample, "../../plumb.toml").list(Opt::suppressions),
              ElementsAre("../../a.supp", "/b.supp"));
}

TEST(Config, TheCommandLineWins) {
  Settings settings(Command::report);
  settings.set(spec_of(Opt::limit), {"3"}, Origin::command_line);
  ASSERT_TRUE(apply_config(kSample, "plumb.toml", settings));
  EXPECT_EQ(settings.number(Opt::limit), 3U);
}

TEST(Config, AFormatCountsWhereItFits) {
  const std::string_view text = "format = \"sarif\"\n";
  EXPECT_EQ(settings_of(Command::report, text).text(Opt::format), "sarif");
  EXPECT_EQ(settings_of(Command::diff, text).text(Opt::plain_format), "text");
  EXPECT_THAT(error_of("format = \"word\"\n").what, HasSubstr("'word' is none of text, json"));
  EXPECT_THAT(error_of("[diff]\nformat = \"sarif\"\n").what, HasSubstr("none of text, json"));
}

TEST(Config, UnknownKeys) {
  const Error error = error_of("\n\nlimt = 3\n");
  EXPECT_EQ(error.where, "plumb.toml:3");
  EXPECT_EQ(error.what, "there is no option 'limt' for plumb.toml");
  EXPECT_EQ(error.hint, "did you mean 'limit'?");
  EXPECT_EQ(error_of("[report]\nstacks = 3\n").hint, "it is an option of `plumb run`");
  EXPECT_EQ(error_of("[reprot]\nlimit = 3\n").hint, "did you mean [report]?");
  EXPECT_EQ(error_of("kind = \"lost\"\n").hint, "write it below [report]");
  EXPECT_THAT(error_of("help = true\n").what, HasSubstr("no option 'help'"));
}

TEST(Config, WrongTypesAndValues) {
  EXPECT_EQ(error_of("limit = \"3\"\n").what, "limit: a whole number is expected here");
  EXPECT_EQ(error_of("quiet = 1\n").what, "quiet: true or false is expected here");
  EXPECT_EQ(error_of("color = [\"auto\"]\n").what, "color: a string is expected here");
  EXPECT_THAT(error_of("limit = -3\n").what, HasSubstr("'-3' is not a number"));
  EXPECT_EQ(error_of("suppressions = []\n").what, "suppressions: the list is empty");
  EXPECT_EQ(error_of("color = \"alwys\"\n").hint, "did you mean 'always'?");
  // The tables of other commands are checked as well.
  EXPECT_EQ(error_of("[run]\nstacks = 0\n").where, "plumb.toml:2");
}

TEST(Config, BrokenFiles) {
  EXPECT_EQ(error_of("limit = 3\nquiet =\n").where.substr(0, 13), "plumb.toml:2:");
  EXPECT_FALSE(error_of("limit = 1\nlimit = 2\n").what.empty());
  EXPECT_FALSE(error_of(std::string(100000, '[')).what.empty());
  EXPECT_FALSE(error_of("limit = \"\xff\"\n").what.empty());
  std::string deep = "\na";
  for (int i = 0; i < 100000; ++i) deep += ".a";
  EXPECT_EQ(error_of(deep + " = 1\n").where, "plumb.toml:2");
}

TEST(Config, FoundUpward) {
  const fs::path root = fs::path(testing::TempDir()) / "plumb-config-test";
  fs::remove_all(root);
  fs::create_directories(root / "a" / "b" / "plumb.toml");  // a directory is not it
  std::ofstream(root / "plumb.toml") << "\n";
  EXPECT_EQ(find_config((root / "a" / "b").string()), (root / "plumb.toml").string());
  fs::remove(root / "plumb.toml");
  const std::optional<std::string> none = find_config((root / "a").string());
  EXPECT_TRUE(!none || !none->starts_with(root.string()));
  fs::remove_all(root);
}

TEST(Settings, ConflictsOfOneOrigin) {
  Settings settings(Command::report);
  settings.set(spec_of(Opt::quiet), {"true"}, Origin::command_line);
  settings.set(spec_of(Opt::verbose), {"true"}, Origin::command_line);
  EXPECT_EQ(settings.resolve_conflicts().error().what, "--quiet and --verbose exclude each other");
}

TEST(Settings, TheHigherOriginWinsAConflict) {
  Settings settings(Command::report);
  settings.set(spec_of(Opt::quiet), {"true"}, Origin::file, "plumb.toml:1");
  settings.set(spec_of(Opt::verbose), {"true"}, Origin::command_line);
  ASSERT_TRUE(settings.resolve_conflicts());
  EXPECT_FALSE(settings.flag(Opt::quiet));
  EXPECT_TRUE(settings.flag(Opt::verbose));
}

TEST(Settings, DescribesEachOrigin) {
  Settings settings = settings_of(Command::report, kSample);
  settings.set(spec_of(Opt::sort), {"file"}, Origin::command_line);
  const std::string text = settings.describe();
  EXPECT_THAT(text, testing::ContainsRegex("limit = 9 +# plumb.toml:7\n"));
  EXPECT_THAT(text, testing::ContainsRegex("sort = \"file\" +# command line\n"));
  EXPECT_THAT(text, testing::ContainsRegex("color = \"auto\" +# default\n"));
  EXPECT_THAT(text, HasSubstr("# output is not set\n"));
  // What it prints is a plumb.toml again.
  Settings again(Command::report);
  EXPECT_TRUE(apply_config("[report]\n" + text, "x", again));
}

TEST(RuntimeOptions, SetsWhatItKnows) {
  Settings settings(Command::run);
  const auto complaints = apply_runtime_options(
      "exitcode=9:output='a:b.json' verbose=1:suppressions=x:suppressions=y:fail-on=lost,stale",
      settings);
  EXPECT_TRUE(complaints.empty()) << complaints.front();
  EXPECT_EQ(settings.number(Opt::error_exitcode), 9U);
  EXPECT_EQ(settings.text(Opt::output), "a:b.json");
  EXPECT_TRUE(settings.flag(Opt::verbose));
  EXPECT_THAT(settings.list(Opt::suppressions), ElementsAre("x", "y"));
  EXPECT_THAT(settings.list(Opt::fail_on), ElementsAre("lost", "stale"));
}

TEST(RuntimeOptions, NamesAndIgnoresTheRest) {
  Settings settings(Command::run);
  const auto complaints = apply_runtime_options("exitcod=9:exitcode=900::limit=2:=:x", settings);
  EXPECT_THAT(complaints, ElementsAre("unknown key 'exitcod' ignored, the nearest is 'exitcode'",
                                      "exitcode: '900' is not a number from 1 to 255, ignored",
                                      "unknown key '' ignored", "unknown key 'x' ignored"));
  EXPECT_FALSE(settings.has(Opt::error_exitcode));
  EXPECT_EQ(settings.number(Opt::limit), 2U);
}

TEST(RuntimeOptions, BetweenFileAndCommandLine) {
  Settings settings(Command::run);
  settings.set(spec_of(Opt::limit), {"1"}, Origin::command_line);
  settings.set(spec_of(Opt::budget), {"5"}, Origin::file, "plumb.toml:1");
  apply_runtime_options("limit=2:budget=6", settings);
  EXPECT_EQ(settings.number(Opt::limit), 1U);
  EXPECT_EQ(settings.size(Opt::budget), 6U);
}

}  // namespace
}  // namespace plumb
